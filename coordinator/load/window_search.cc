#include "coordinator/load/window_search.h"

#include <algorithm>
#include <cmath>

namespace pareto::load {
namespace {

constexpr double kWithin = 0.01;
constexpr double kMostDoubt = 0.01;
constexpr int kLoadsEach = 2;
/// The room that W has above L / B. With hardly more, the bottleneck rests whenever anything takes
/// a little longer: at 1.06 and 1.01 of it a pipeline of two equal stages was seen to lose 4 and 7
/// % of its throughput in rounds of seconds, which a dozen completions did not show.
constexpr double kRoom = 1.25;

double best_of(std::span<const WindowPoint> curve) {
  return std::ranges::max_element(curve, {}, &WindowPoint::throughput)->throughput;
}

bool as_good(const WindowPoint& point, double best) {
  const double doubt = std::clamp(point.ci95.high - point.throughput, 0.0, kMostDoubt * best);
  return point.throughput + doubt >= (1 - kWithin) * best;
}

}  // namespace

int choose_window(std::span<const WindowPoint> curve) {
  if (curve.empty()) return 1;
  const double best = best_of(curve);
  int chosen = kLargestWindow;
  for (const WindowPoint& point : curve) {
    if (as_good(point, best)) chosen = std::min(chosen, point.window);
  }
  return chosen;
}

int roomy_window(double latency_ms, double bottleneck_ms) {
  const bool known = bottleneck_ms > 0 && latency_ms > 0;
  // A request alone waits for no other.
  if (!known || (1 - kWithin) * latency_ms <= bottleneck_ms) return 1;
  const double wanted = std::ceil(kRoom * latency_ms / bottleneck_ms);
  return static_cast<int>(std::min(wanted, double{kLargestWindow}));
}

std::optional<int> next_window(std::span<const WindowPoint> curve, double latency_ms,
                               double bottleneck_ms) {
  int lowest = roomy_window(latency_ms, bottleneck_ms);
  if (curve.empty()) return std::min(2 * lowest, kLargestWindow);
  const int good = choose_window(curve);
  const bool several = std::ranges::any_of(
      curve, [&](const WindowPoint& point) { return point.window != curve.front().window; });
  for (const WindowPoint& point : curve) {
    const auto loads = std::ranges::count(curve, point.window, &WindowPoint::window);
    if (several && loads < kLoadsEach) return point.window;
    if (point.window < good) lowest = std::max(lowest, point.window + 1);
  }
  if (lowest >= good) return std::nullopt;
  return several ? lowest + (good - lowest) / 2 : lowest;
}

}  // namespace pareto::load
