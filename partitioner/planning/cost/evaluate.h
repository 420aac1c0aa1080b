// The cost model: what a plan will take, before it has run once.
//
//   stage on a device, of [a, b)   S = overhead + receive + decode + enter[a] + P[b] - P[a]
//                                      + encode + send; P: prefix sums of the profile
//   link with boundary c           O = message + bytes(c) / rate, and delay
//   latency of a lone request      L = sum of S, O and delay
//   bottleneck                     B = max(all S, all O, each shared channel's sum)
//   with W requests in flight      response time R = max(L, W B), throughput W / R
//
//   - A message takes a share of O of each shared channel that it passes.
//   - A part of c that is made before its stage ends leaves then. The delay is less by the time
//     that has passed by the end.
//   - B is a maximum because a stage moves messages while it computes.
//   - In B, S is that of a busy device if that is known, because a lone request wakes every stage.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::planning {

struct PlacedStage {
  int device = 0;  ///< index of CostInputs::devices
  int begin = 0;   ///< first of the operators [begin, end)
  int end = 0;
  bool operator==(const PlacedStage&) const = default;
};

/// The devices and what each runs: a pipeline, or the whole model on each of some devices that take
/// requests in turn (round robin).
struct Placement {
  /// Stages of a pipeline, in order. If `replicated`, each has all operators.
  std::vector<PlacedStage> stages;
  /// Index of the codec of each link, in order, the source's and the sink's included: stages + 1.
  /// If `replicated`, those of the two links of each replica: 2 x stages. Empty means the
  /// first everywhere.
  std::vector<int> codecs{};
  bool replicated = false;
  bool operator==(const Placement&) const = default;
};

/// Returns the pipelines that requests pass: the placement itself, or one for each replica, in
/// turns. A replicated placement has no codecs, or two a replica.
std::vector<Placement> replicas_of(const Placement& placement);

/// A placement's figures, from which those of any window follow.
struct Evaluation {
  Nanoseconds latency{};  ///< L, in ns, at least B and 1 ns; that of the slowest replica
  /// B, in ns, at least 1 ns. With replicas it is that of a whole turn, and whole ns for each of
  /// them.
  Nanoseconds bottleneck{};
  int turn = 1;  ///< requests that are done in one B: the number of replicas
  /// Values of searched_objectives(), in their order, before SearchedFigure::at_window.
  Values values{};
  std::int64_t boundary_bytes = 0;  ///< bytes that cross between stages, before codecs

  std::int64_t value(const Objective& objective) const { return values[searched_place(objective)]; }
};

/// Returns the figures of a placement. `inputs` pass check(). Fails: kInvalidArgument (no such
/// device, operator or codec, a gap, a device used twice, an illegal position, a device that may
/// not stand there), kUnavailable (a link that is not usable), kExhausted (memory).
Expected<Evaluation> evaluate(const CostInputs& inputs, const Placement& placement);

/// The largest number of requests that may be in flight.
inline constexpr int kLargestSearchedWindow = 100'000;
/// The numbers of requests that may be in flight; 1 <= least <= most <= kLargestSearchedWindow.
struct WindowRange {
  int least = 1;
  int most = kLargestSearchedWindow;
};

/// A placement under a window. Its throughput is window / latency (Little's law), so that both
/// compare exactly.
struct OperatingPoint {
  Nanoseconds latency{};
  int window = 1;

  bool operator==(const OperatingPoint&) const = default;
  double throughput_per_s() const { return window / (static_cast<double>(latency.count()) / 1e9); }
};

/// Returns the point of a placement under `window`, with R as its latency.
OperatingPoint at_window(const Evaluation& evaluation, int window);
/// Returns the points that all other windows of the placement are no better than in latency and
/// throughput. They are those of floor(L / B) and ceil(L / B), or the nearest in range: one or two.
std::vector<OperatingPoint> operating_points(const Evaluation& evaluation, WindowRange range);

/// Returns a value of a plan at a point: what searches compare.
std::int64_t value_at(const Objective& objective, std::int64_t value, const OperatingPoint& point);

/// Returns an evaluation as a measurement of batches of `batch` samples would be. All percentiles
/// are the predicted latency.
Measurement predicted_measurement(const Evaluation& evaluation, OperatingPoint point,
                                  std::int64_t batch);

}  // namespace pareto::planning
