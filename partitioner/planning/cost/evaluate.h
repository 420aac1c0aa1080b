// What a plan will take, before it has run once: the cost model.
//
//   stage on device d of [a, b):  S = overhead + receive + decode + enter[a] + P[b] - P[a] + encode + send      P: prefix sums of the profile
//   link with boundary c:         O = message + bytes(c) / rate, and delay; it takes a share of O of each medium that it passes
//                                 what of c is made before its stage ends leaves then: the delay is less by what has passed by the end
//   latency of a lone request     L = sum of S, O and delay
//   bottleneck                    B = max(all S, all O, each medium's sum): a stage moves messages while it computes; S of a device
//                                 that is busy where that is known, since a lone request wakes every stage
//   with W requests in flight     response time R = max(L, W B), throughput W / R
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::planning {

struct PlacedStage {
  int device = 0;  ///< of CostInputs::devices
  int begin = 0;   ///< operators [begin, end)
  int end = 0;
  bool operator==(const PlacedStage&) const = default;
};

/// Which device runs what: a pipeline, or the whole model on each of some devices that take requests in turn (round robin).
struct Placement {
  std::vector<PlacedStage> stages;  ///< of a pipeline in order; replicated: each has all operators
  /// Which of the link's codecs, for the links in order, the source's and the sink's included: stages + 1; of each replica those of its two
  /// links: 2 stages. Empty: the first everywhere.
  std::vector<int> codecs{};
  bool replicated = false;
  bool operator==(const Placement&) const = default;
};

/// The pipelines that requests pass: the placement itself, or one of each replica, in turns. Of codecs, if any, it has two a replica.
std::vector<Placement> lanes_of(const Placement& placement);

/// A placement's figures, of which those of any window follow.
struct Evaluation {
  Nanoseconds latency{};  ///< L, at least B and 1 ns; of replicas the slowest one's
  Nanoseconds
      bottleneck{};  ///< B, at least 1 ns; of replicas: of a whole turn, whole ns for each of them
  int turn = 1;      ///< requests that are done in one B: the number of replicas
  Values values{};   ///< of searched_objectives(), in their order, before SearchedFigure::at_window
  std::int64_t boundary_bytes = 0;  ///< what crosses between stages, before codecs

  std::int64_t value(const Objective& objective) const { return values[searched_place(objective)]; }
};

/// `inputs` pass check(). Fails: kInvalidArgument (no such device, operator or codec, a gap, a device used twice, an illegal position,
/// a device that may not stand there), kUnavailable (a link that is not usable), kExhausted (memory).
Expected<Evaluation> evaluate(const CostInputs& inputs, const Placement& placement);

/// How many requests may be in flight; 1 <= least <= most <= kLargestSearchedWindow.
inline constexpr int kLargestSearchedWindow = 100'000;
struct WindowRange {
  int least = 1;
  int most = kLargestSearchedWindow;
};

/// A placement under a window. Its throughput is window / latency (Little's law), so that both compare exactly.
struct OperatingPoint {
  Nanoseconds latency{};
  int window = 1;

  bool operator==(const OperatingPoint&) const = default;
  double throughput_per_s() const { return window / (static_cast<double>(latency.count()) / 1e9); }
};

/// R.
OperatingPoint at_window(const Evaluation& evaluation, int window);
/// The points that all other windows of the placement are no better than in latency and throughput: those of floor(L / B) and
/// ceil(L / B), or the nearest in range. One or two.
std::vector<OperatingPoint> operating_points(const Evaluation& evaluation, WindowRange range);

/// Returns a value of a plan at a point: what searches compare.
std::int64_t value_at(const Objective& objective, std::int64_t value, const OperatingPoint& point);

/// As a measurement of batches of `batch` samples would be: all percentiles are the predicted latency.
Measurement predicted_measurement(const Evaluation& evaluation, OperatingPoint point,
                                  std::int64_t batch);

}  // namespace pareto::planning
