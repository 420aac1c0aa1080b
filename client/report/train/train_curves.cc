#include "client/report/train/train_curves.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "client/report/axis_step.h"
#include "client/report/schedule/schedule_colours.h"
#include "client/report/train/train_rows.h"

namespace pareto::report {
namespace {

constexpr double kPictureWidth = 1200;
constexpr double kPictureHeight = 400;
constexpr double kPanelTop = 34;
constexpr double kPanelBottom = 330;
constexpr double kPanelWidth = 520;
constexpr double kTickLength = 18;  ///< from an axis to its numbers

struct CurvePoint {
  double step = 0;
  double value = 0;
  std::string about{};  ///< shown if pointed at
};

struct CurveSeries {
  std::string name;
  std::vector<CurvePoint> points;
  bool dots = false;   ///< a dot for each point
  bool faint = false;  ///< below the others
};

/// One chart: series over the steps of the training.
class Panel {
 public:
  Panel(double left, std::string title, double most_steps, std::vector<CurveSeries> series)
      : left_(left),
        title_(std::move(title)),
        most_steps_(std::max(most_steps, 1.0)),
        series_(std::move(series)) {
    for (const CurveSeries& one : series_) {
      for (const CurvePoint& point : one.points) most_ = std::max(most_, point.value);
    }
    most_ = most_ > 0 ? 1.05 * most_ : 1;
  }

  /// Sets the largest value of the axis, in place of that of the points.
  void limit(double most, bool is_share) {
    most_ = most;
    is_share_ = is_share;
  }

  std::string draw() {
    text_ =
        fmt::format("<text x=\"{:.1f}\" y=\"18\" font-weight=\"600\">{}</text>\n", left_, title_);
    draw_axes();
    for (std::size_t i = 0; i < series_.size(); ++i) draw_series(i);
    draw_legend();
    return std::move(text_);
  }

 private:
  double x(double step) const { return left_ + step / most_steps_ * kPanelWidth; }
  double y(double value) const {
    return kPanelBottom - std::min(value, most_) / most_ * (kPanelBottom - kPanelTop);
  }

  void draw_axes() {
    const double step = axis_step(most_, 6);
    for (int i = 0; i <= static_cast<int>(most_ / step + 1e-9); ++i) {
      const double tick = i * step;
      text_ += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"currentColor\" "
          "stroke-opacity=\"0.16\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" "
          "fill-opacity=\"0.75\">{}</text>\n",
          left_, left_ + kPanelWidth, y(tick), y(tick), left_ - 8, y(tick) + 4,
          is_share_ ? fmt::format("{:g} %", 100 * tick) : fmt::format("{:g}", tick));
    }
    const double steps = std::max(axis_step(most_steps_, 6), 1.0);
    for (int i = 0; i <= static_cast<int>(most_steps_ / steps + 1e-9); ++i) {
      text_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill-opacity=\"0.75\">{:g}</text>"
          "\n",
          x(i * steps), kPanelBottom + kTickLength, i * steps);
    }
    text_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" "
        "fill-opacity=\"0.75\">steps</text>\n",
        left_ + kPanelWidth / 2, kPanelBottom + 2 * kTickLength);
  }

  void draw_series(std::size_t number) {
    const CurveSeries& series = series_[number];
    const std::string_view colour = schedule::strong_colour(colour_of(number));
    std::string line;
    for (const CurvePoint& point : series.points) {
      line += fmt::format("{:.1f},{:.1f} ", x(point.step), y(point.value));
    }
    text_ += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
        "stroke-opacity=\"{}\" stroke-linejoin=\"round\"/>\n",
        line, colour, series.faint ? 1 : 2, series.faint ? 0.3 : 1);
    if (!series.dots) return;
    for (const CurvePoint& point : series.points) {
      text_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{}</title></circle>\n",
          x(point.step), y(point.value), colour, point.about);
    }
  }

  /// A faint curve has the colour of the one that follows it.
  std::size_t colour_of(std::size_t number) const {
    std::size_t colour = 0;
    for (std::size_t i = 0; i < number; ++i) colour += series_[i].faint ? 0 : 1;
    return colour;
  }

  void draw_legend() {
    double at = left_;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      if (series_[i].faint) continue;
      text_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
          at, kPictureHeight - 20, schedule::strong_colour(colour_of(i)), at + 18,
          kPictureHeight - 10, series_[i].name);
      at += 170;
    }
  }

  const double left_;
  const std::string title_;
  const double most_steps_;
  const std::vector<CurveSeries> series_;
  double most_ = 0;  ///< the largest value that has room
  bool is_share_ = false;
  std::string text_;
};

/// Returns the same points, each drawn towards those before it.
CurveSeries smoothed(const CurveSeries& raw) {
  // Few steps are smoothed little.
  const double share_of_new =
      std::clamp(10.0 / static_cast<double>(raw.points.size() + 1), 0.05, 1.0);
  CurveSeries smooth{.name = raw.name, .points = raw.points};
  for (std::size_t i = 1; i < smooth.points.size(); ++i) {
    smooth.points[i].value =
        (1 - share_of_new) * smooth.points[i - 1].value + share_of_new * smooth.points[i].value;
  }
  return smooth;
}

/// Returns the 99th percentile of the points, so that one wild step does not flatten the others.
double nearly_largest(std::vector<CurvePoint> points) {
  if (points.empty()) return 0;
  const auto at = points.begin() + static_cast<std::ptrdiff_t>(points.size() * 99 / 100);
  std::ranges::nth_element(points, at, {}, &CurvePoint::value);
  return at->value;
}

class TrainCurves {
 public:
  explicit TrainCurves(const TrainReport& report) : report_(report) {}

  std::string draw() const {
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
        "aria-label=\"loss and accuracy by steps\" font-family=\"system-ui, sans-serif\" "
        "font-size=\"12\" fill=\"currentColor\">\n",
        kPictureWidth, kPictureHeight);
    const CurveSeries raw = losses();
    std::vector<CurveSeries> loss{raw, smoothed(raw)};
    loss.front().faint = true;
    const bool is_one_kind = has_validation_loss(report_);
    const CurveSeries validation = by_epoch(
        "validation",
        [&](const train::EpochRecord& epoch) {
          return epoch.validation && is_one_kind ? std::optional(epoch.validation->cross_entropy)
                                                 : std::nullopt;
        },
        false);
    if (!validation.points.empty()) loss.push_back(validation);
    Panel loss_panel(48, "Loss", steps(), loss);
    double most = nearly_largest(raw.points);
    for (const CurvePoint& point : validation.points) most = std::max(most, point.value);
    if (most > 0) loss_panel.limit(1.05 * most, /*is_share=*/false);
    text += loss_panel.draw();

    std::vector<CurveSeries> accuracy{by_epoch(
        "training", [](const train::EpochRecord& epoch) { return epoch.sums.accuracy(); }, true)};
    accuracy.push_back(by_epoch(
        "validation",
        [](const train::EpochRecord& epoch) {
          return epoch.validation ? std::optional(epoch.validation->accuracy()) : std::nullopt;
        },
        true));
    std::erase_if(accuracy, [](const CurveSeries& one) { return one.points.empty(); });
    Panel accuracy_panel(654, "Accuracy", steps(), accuracy);
    accuracy_panel.limit(1, /*is_share=*/true);
    return text + accuracy_panel.draw() + "</svg>\n";
  }

 private:
  double steps() const { return static_cast<double>(report_.progress.position.step); }

  CurveSeries losses() const {
    CurveSeries series{.name = "training", .points = {}};
    for (const train::LossCurve::Point& point : report_.progress.history.losses.points()) {
      series.points.push_back(
          {.step = static_cast<double>(point.step) + static_cast<double>(point.steps) / 2,
           .value = point.loss()});
    }
    return series;
  }

  template <typename Value>
  CurveSeries by_epoch(std::string name, Value value, bool is_share) const {
    CurveSeries series{.name = std::move(name), .points = {}, .dots = true};
    for (const train::EpochRecord& epoch : report_.progress.history.epochs) {
      const std::optional<double> number = value(epoch);
      if (!number || !std::isfinite(*number)) continue;
      series.points.push_back({static_cast<double>(epoch.step), *number,
                               fmt::format("epoch {}: {}", epoch.epoch + 1,
                                           is_share ? fmt::format("{:.2f} %", 100 * *number)
                                                    : fmt::format("{:.4f}", *number))});
    }
    return series;
  }

  const TrainReport& report_;
};

}  // namespace

std::string train_curves_svg(const TrainReport& report) { return TrainCurves(report).draw(); }

}  // namespace pareto::report
