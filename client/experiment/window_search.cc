#include "client/experiment/window_search.h"

#include <algorithm>
#include <cmath>

namespace pareto::client {
namespace {

constexpr double kWithin = 0.01;
constexpr double kMostDoubt = 0.01;
constexpr int kLoadsEach = 2;
constexpr double kReckonedShare = 1.25;
/// At the knee itself a few completions look as good as any, and minutes of them do not.
constexpr double kRoomyShare = 1.05;

double best_of(std::span<const WindowPoint> curve) {
  return std::ranges::max_element(curve, {}, &WindowPoint::throughput)->throughput;
}

bool as_good(const WindowPoint& point, double best) {
  const double doubt = std::clamp(point.ci95.high - point.throughput, 0.0, kMostDoubt * best);
  return point.throughput + doubt >= (1 - kWithin) * best;
}

/// The fewest requests in flight that carry `share` of what the bottleneck could.
int window_for(double share, double latency_ms, double bottleneck_ms) {
  if (!(bottleneck_ms > 0) || !(latency_ms > 0)) return 1;
  const double needed = std::ceil(share * latency_ms / bottleneck_ms);
  return static_cast<int>(std::clamp(needed, 1.0, double{kLargestWindow}));
}

}  // namespace

int least_window(double latency_ms, double bottleneck_ms) {
  // A request alone waits for no other.
  if (window_for(1 - kWithin, latency_ms, bottleneck_ms) == 1) return 1;
  return window_for(kRoomyShare, latency_ms, bottleneck_ms);
}

int choose_window(std::span<const WindowPoint> curve) {
  if (curve.empty()) return 1;
  const double best = best_of(curve);
  int chosen = kLargestWindow;
  for (const WindowPoint& point : curve) {
    if (as_good(point, best)) chosen = std::min(chosen, point.window);
  }
  return chosen;
}

int reckoned_window(double latency_ms, double bottleneck_ms) {
  return window_for(kReckonedShare, latency_ms, bottleneck_ms);
}

std::optional<int> next_window(std::span<const WindowPoint> curve, double latency_ms,
                               double bottleneck_ms) {
  int lowest = least_window(latency_ms, bottleneck_ms);
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

}  // namespace pareto::client
