// The effect of jitter on a prediction: a pipeline's requests are replayed one after another. Each
// stage takes as long as its device was seen to.
//
//   request k begins on a stage or link   when it has left the one before,
//                                         and request k - 1 has left this one
//   request k leaves the source           when request k - W has come back
//
// With replicas, request k has the stage and links of replica k mod n. It comes back when
// request k - 1 has.
//
// This is a max-plus (Lindley) recursion, O(requests x stages). Times are those of evaluate(). A
// stage's are multiplied by its device's factors. Factors are drawn in blocks of neighbours
// (circular block bootstrap, Politis and Romano 1992). They are scaled to a mean of 1, because
// predicted busy times are means. Without jitter the outcome is evaluate()'s to the nanosecond.
// With jitter the throughput is never more.
//
// A replay is simpler than a pipeline:
//   - What a lone request takes of a stage beyond a busy one delays every request, as in
//     evaluate()'s latency. It occupies nothing.
//   - Links of one shared channel take turns, a request at a time. From one request to the next
//     lies the sum of what a request needs of the channel. The order in which messages of several
//     requests wait for each other there is left out.
//   - There is room for all that waits between stages.
//   - Devices jitter independently of each other. Links do not jitter.
#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::planning {

struct ReplayOptions {
  /// Number of requests that are looked at. As many before them, or twice the window if that is
  /// more, fill the pipeline.
  int requests = 2000;
  int block = 16;  ///< number of neighbours that are drawn together
  std::uint64_t seed = 1;
};

/// The outcome of a placement under a window.
struct ReplayOutcome {
  int window = 1;
  double throughput_per_s = 0;  ///< requests a second, like OperatingPoint's
  /// Median of response times, in ns. With replicas, only each turn's slowest request counts.
  Nanoseconds response_p50{};
  Nanoseconds response_p95{};
  double share = 1;  ///< share of the throughput without jitter under the same window; at most 1
};

/// Returns whether jitter is known of all devices of a placement that evaluate() takes.
bool knows_jitter(const CostInputs& inputs, const Placement& placement);

/// Replays a placement under a window. `inputs` pass check(); options are 1 or more. Devices
/// without factors do not jitter. The outcome is the same for the same seed. Fails: whatever
/// evaluate() returns; kInvalidArgument (a window that is not 1 to kLargestSearchedWindow).
Expected<ReplayOutcome> replay(const CostInputs& inputs, const Placement& placement, int window,
                               const ReplayOptions& options = {});

/// Replays a placement under the smallest window whose throughput is within 1 % of the best. The
/// best is sought up to twice ceil(L / B), or up to `most_window` if that is less. All else is like
/// in replay().
Expected<ReplayOutcome> replay_open(const CostInputs& inputs, const Placement& placement,
                                    int most_window, const ReplayOptions& options = {});

}  // namespace pareto::planning
