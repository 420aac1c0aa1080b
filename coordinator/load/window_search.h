// Finds the window of a trial's throughput: the smallest with room whose throughput is within 1 %
// of the best.
//
//   latency, bottleneck at window 1 ──▶ next_window ──▶ a short load there ──▶ a point of the curve
//                                            ▲──────────────────────────────────────────┘
//                                            no value: choose_window(curve)
//
// Throughput grows with the window W as W / L until the bottleneck is always at work, at 1 / B:
// from L / B on where nothing jitters (fewer cannot carry it, by Little's law), from up to twice as
// many where stages do. W* = ⌈1.25 L / B⌉ leaves room for what jitters a little, and no fewer are
// tried, but one alone where L is within 1 % of B. 2 W* is measured first, next W*; where W* is not
// enough, what lies between is bisected, for throughput does not fall as the window grows. Each is
// loaded twice, the first two in turns, and its faster load counts: whatever else a machine does,
// it only slows it. That makes 4 to 6 short loads for two stages on fast links, never more than 14.
//
// A window is as good as the best where its throughput, with the benefit of its own doubt, is
// within 1 % of it: the upper end of its 95 % interval counts, but at most another 1 %, so that
// noise neither costs requests in flight nor, where there is much of it, more than 2 % of
// throughput.
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

/// W*; 1 for times that are not known.
int roomy_window(double latency_ms, double bottleneck_ms);

inline constexpr int kLargestWindow = 64;

}  // namespace pareto::load
