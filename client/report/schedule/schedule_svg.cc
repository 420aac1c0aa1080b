#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "client/report/axis_step.h"
#include "client/report/html_text.h"
#include "client/report/schedule/schedule_colours.h"
#include "client/report/schedule/schedule_writer.h"
#include "core/base/counted.h"
#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::report::schedule {
namespace {

constexpr double kWidth = 1200;
constexpr double kLeft = 112;
constexpr double kRight = 24;
constexpr double kRow = 38;
constexpr double kRowGap = 8;
constexpr double kTitle = 52;
constexpr double kAxis = 30;
constexpr double kLegend = 24;
/// Width of a character of a bar's label.
constexpr double kCharacter = 6.6;

/// The chart: a row a worker, time to the right.
class Gantt {
 public:
  Gantt(const ScheduleReport& report, bool in_page)
      : report_(report),
        units_(unit_facts(report.trace)),
        shared_(shared_turns(report.trace)),
        shares_(worker_shares(report)),
        began_(report.begin()),
        range_ms_(std::max(to_milliseconds(report.span()), 1e-6)),
        top_(in_page ? 0 : kTitle) {
    for (const UnitFacts& unit : units_) {
      if (!unit.tags.empty()) colours_.try_emplace(unit.tags, colours_.size());
    }
    place_legend();
  }

  std::string draw(bool in_page) {
    const double height = bottom() + kAxis + kLegend * static_cast<double>(legend_rows_);
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
        "font-family=\"system-ui, sans-serif\" font-size=\"12\"{}>\n",
        kWidth, height,
        in_page ? std::string(" fill=\"currentColor\"")
                : fmt::format(" width=\"{:g}\" height=\"{:g}\" fill=\"#182030\"", kWidth, height));
    if (!in_page) draw_title(height);
    draw_axis();
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      text(kLeft - 10, row(i) + kRow / 2 + 4, "end",
           fmt::format("{} · {:.0f} %", report_.worker_name(i), 100 * shares_[i].share), 10.5);
    }
    for (std::size_t i = 0; i < report_.trace.turns.size(); ++i) draw_turn(i);
    draw_legend();
    return text_ + "</svg>\n";
  }

 private:
  double row(std::size_t worker) const {
    return top_ + static_cast<double>(worker) * (kRow + kRowGap);
  }
  double bottom() const { return row(std::max<std::size_t>(shares_.size(), 1)); }
  double at(double ms) const { return kLeft + ms / range_ms_ * (kWidth - kLeft - kRight); }

  void text(double x, double y, const char* anchor, const std::string& what, double size = 12,
            const char* more = "") {
    text_ += fmt::format(
        "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" font-size=\"{:g}\"{}>{}</text>\n", x, y,
        anchor, size, more, html_escaped(what));
  }

  void draw_title(double height) {
    text_ +=
        fmt::format("<rect width=\"{:g}\" height=\"{:g}\" fill=\"#ffffff\"/>\n", kWidth, height);
    text(kLeft, 20, "start",
         fmt::format("{} at batch {}, schedule {}", printable(report_.model), report_.batch,
                     printable(report_.schedule)),
         15, " font-weight=\"600\"");
    text(kLeft, 38, "start",
         fmt::format("{:.4g} ms; {:.2f} times as fast as one thread ({:.4g} ms), {:.2f} times as "
                     "fast as {} ({:.4g} ms)",
                     to_milliseconds(report_.trace.measured),
                     report_.gain_over(report_.trace.sequential_one),
                     to_milliseconds(report_.trace.sequential_one),
                     report_.gain_over(report_.trace.sequential_all),
                     counted(report_.threads, "thread"),
                     to_milliseconds(report_.trace.sequential_all)));
  }

  void draw_axis() {
    const double step = axis_step(range_ms_, 8);
    const auto steps = static_cast<int>(range_ms_ / step + 1e-9);
    for (int i = 0; i <= steps; ++i) {
      const double ms = i * step;
      text_ += fmt::format(
          "<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.2f}\" y2=\"{2:.2f}\" "
          "stroke=\"currentColor\" stroke-opacity=\"0.18\"/>\n",
          at(ms), top_, bottom());
      text(at(ms), bottom() + 16, "middle", fmt::format("{:g} ms", ms), 11);
    }
  }

  /// Units have the colour of their tags, or each its own if there are no tags.
  std::size_t colour_of(std::size_t unit) const {
    const auto found = colours_.find(units_[unit].tags);
    return colours_.empty() ? unit : found == colours_.end() ? colours_.size() : found->second;
  }

  void draw_turn(std::size_t index) {
    const schedules::TurnTime& turn = report_.trace.turns[index];
    const UnitFacts& unit = units_[turn.unit];
    const double begin_ms = to_milliseconds(turn.begin - began_);
    const double duration_ms = to_milliseconds(turn.end - turn.begin);
    const double width = std::max(at(begin_ms + duration_ms) - at(begin_ms), 0.6);
    const double top = shared_[index] ? row(0) : row(turn.worker);
    const double height = shared_[index] ? bottom() - kRowGap - top : kRow;
    const bool in_parts = report_.trace.timetable.parts > 1;
    const std::string part = in_parts ? fmt::format(", part {}", turn.part) : "";
    text_ += fmt::format(
        "<g><title>{}</title><rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "rx=\"2\" fill=\"{}\" fill-opacity=\"{:.2f}\" stroke=\"#ffffff\" "
        "stroke-width=\"0.6\"/></g>\n",
        html_escaped(fmt::format("{}: {}{}\n{:.3f} ms from {:.3f} ms, {}{}", turn.unit, unit.name,
                                 part, duration_ms, begin_ms, counted(unit.operators, "operator"),
                                 unit.tags.empty() ? "" : "\n" + unit.tags)),
        at(begin_ms), top, width, height, strong_colour(colour_of(turn.unit)),
        turn.part % 2 == 0 ? 1.0 : 0.72);
    const std::string label = unit.name + (in_parts ? fmt::format(" /{}", turn.part) : "");
    const auto room = static_cast<std::size_t>(std::max(width - 8, 0.0) / kCharacter);
    if (room < 3) return;
    text(at(begin_ms) + 5, top + height / 2 + 4, "start", printable(label, room), 11,
         " style=\"fill:#ffffff;pointer-events:none\"");
  }

  /// A key of the legend.
  struct Key {
    std::string tags;
    std::size_t colour;
    double x;
    std::size_t row;
  };

  /// Puts as many keys into a row as it has room for.
  void place_legend() {
    double x = kLeft;
    for (const auto& [tags, colour] : colours_) {
      const double width = 18 + kCharacter * static_cast<double>(display_width(tags));
      if (legend_rows_ == 0 || (x > kLeft && x + width > kWidth - kRight)) {
        x = kLeft;
        ++legend_rows_;
      }
      legend_.push_back({tags, colour, x, legend_rows_ - 1});
      x += width + 24;
    }
  }

  void draw_legend() {
    for (const Key& key : legend_) {
      const double y = bottom() + kAxis + kLegend * static_cast<double>(key.row);
      text_ += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/>\n",
          key.x, y, strong_colour(key.colour));
      text(key.x + 18, y + 10, "start", key.tags);
    }
  }

  const ScheduleReport& report_;
  const std::vector<UnitFacts> units_;
  const std::vector<bool> shared_;
  const std::vector<WorkerShare> shares_;
  const Nanoseconds began_;
  const double range_ms_;
  const double top_;
  std::map<std::string, std::size_t> colours_;  ///< numbers of colours, by tags
  std::vector<Key> legend_;
  std::size_t legend_rows_ = 0;
  std::string text_;
};

}  // namespace

std::string schedule_svg(const ScheduleReport& report, bool in_page) {
  return Gantt(report, in_page).draw(in_page);
}

}  // namespace pareto::report::schedule
