// Finds the window of a trial's throughput: the smallest with room whose throughput is within 1 %
// of the best.
//
//   latency, bottleneck at window 1 ──▶ next_window ──▶ a short load there ──▶ a point of the curve
//                                            ▲──────────────────────────────────────────┘
//                                            no value: choose_window(curve)
//
// Throughput grows with the window W as W / L until the bottleneck is always at work, at 1 / B.
// Without jitter this begins at L / B, because fewer requests cannot carry it (Little's law). With
// jitter it may need up to twice as many. W* = ⌈1.25 L / B⌉ leaves room for a little jitter.
// - Windows below W* are not tried, except 1 if L is within 1 % of B.
// - 2 W* is measured first, then W*. If W* is not enough, the windows between them are bisected:
//   throughput does not fall as the window grows.
// - Each window is loaded twice, the first two in turns. The faster load counts, because whatever
//   else a machine does only slows it.
// This makes 4 to 6 short loads for two stages on fast links, and never more than 14.
//
// A window is as good as the best if its throughput is within 1 % of the best, with the benefit of
// the doubt. The upper end of its 95 % interval counts, but at most another 1 %. So noise neither
// costs requests in flight, nor more than 2 % of throughput.
#pragma once

#include <optional>
#include <span>

#include "coordinator/results/record.h"

namespace pareto::load {

/// The result of one load, in requests a second.
struct WindowPoint {
  int window = 1;
  double throughput = 0;
  results::Interval ci95;
};

/// Returns the smallest measured window that is as good as the best one measured; 1 for an empty
/// curve. Any order.
int choose_window(std::span<const WindowPoint> curve);

/// Returns the window to measure next; no value if choose_window(curve) is found. `latency_ms` and
/// `bottleneck_ms`: of a request alone, all of it and what its slowest stage or link took; W* is 1
/// where they are not known. Never returns one over kLargestWindow.
std::optional<int> next_window(std::span<const WindowPoint> curve, double latency_ms,
                               double bottleneck_ms);

/// Returns W*, or 1 if the times are not known.
int roomy_window(double latency_ms, double bottleneck_ms);

inline constexpr int kLargestWindow = 64;

}  // namespace pareto::load
