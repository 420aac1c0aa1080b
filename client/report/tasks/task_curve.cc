#include "client/report/tasks/task_curve.h"

#include <algorithm>

#include "client/report/axis_step.h"
#include "client/report/html_text.h"
#include "client/report/schedule/schedule_colours.h"

namespace pareto::report {
namespace {

constexpr double kCurveWidth = 1200;
constexpr double kCurveHeight = 380;
constexpr double kAxisLeft = 48;
constexpr double kAxisRight = kCurveWidth - 24;
constexpr double kAxisTop = 16;
constexpr double kAxisBottom = 320;

class Curve {
 public:
  explicit Curve(const tasks::TaskSweep& sweep) : sweep_(sweep) {
    for (const tasks::SweepPoint& point : sweep.points) {
      for (const tasks::Contestant& one : point.report.contestants) {
        most_ = std::max(most_, 1.1 * point.report.speed_up_over(one));
      }
    }
  }

  std::string draw() {
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" "
        "aria-label=\"speed-up by the share of heavy tasks\" font-family=\"system-ui, "
        "sans-serif\" font-size=\"12\" fill=\"currentColor\">\n",
        kCurveWidth, kCurveHeight);
    draw_axes();
    const std::size_t count =
        sweep_.points.empty() ? 0 : sweep_.points.front().report.contestants.size();
    for (std::size_t i = 1; i < count; ++i) draw_baseline(i);
    return text_ + "</svg>\n";
  }

 private:
  static double x(double share) { return kAxisLeft + share * (kAxisRight - kAxisLeft); }
  double y(double speed_up) const {
    return kAxisBottom - speed_up / most_ * (kAxisBottom - kAxisTop);
  }

  void draw_axes() {
    const double step = axis_step(most_, 8);
    for (int i = 0; i <= static_cast<int>(most_ / step + 1e-9); ++i) {
      const double tick = i * step;
      text_ += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"currentColor\" "
          "stroke-opacity=\"0.18\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:g}</text>"
          "\n",
          kAxisLeft, kAxisRight, y(tick), y(tick), kAxisLeft - 8, y(tick) + 4, tick);
    }
    // Above this line the schedule is faster.
    text_ += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"currentColor\" "
        "stroke-opacity=\"0.6\"/>\n",
        kAxisLeft, kAxisRight, y(1), y(1));
    for (int tenth = 0; tenth <= 10; ++tenth) {
      text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{} %</text>\n",
                           x(tenth / 10.0), kAxisBottom + 18, 10 * tenth);
    }
  }

  void draw_baseline(std::size_t number) {
    const std::string name = html_escaped(sweep_.points.front().report.contestants[number].name);
    const std::string_view colour = schedule::strong_colour(number - 1);
    std::string points;
    std::string dots;
    for (const tasks::SweepPoint& point : sweep_.points) {
      const double speed_up = point.report.speed_up_over(point.report.contestants[number]);
      if (speed_up <= 0) continue;
      points += fmt::format("{:.1f},{:.1f} ", x(point.heavy_share), y(speed_up));
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{:.4g} % heavy: {:.2f} "
          "times as fast as {}</title></circle>\n",
          x(point.heavy_share), y(speed_up), colour, 100 * point.heavy_share, speed_up, name);
    }
    text_ +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                    points, colour);
    text_ += dots;
    const double left = kAxisLeft + 170 * static_cast<double>(number - 1);
    text_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">over {}</text>\n",
        left, kCurveHeight - 22, colour, left + 18, kCurveHeight - 12, name);
  }

  const tasks::TaskSweep& sweep_;
  double most_ = 1.5;  ///< the largest speed-up that has room
  std::string text_;
};

}  // namespace

std::string task_curve_svg(const tasks::TaskSweep& sweep) { return Curve(sweep).draw(); }

}  // namespace pareto::report
