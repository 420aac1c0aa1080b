// What jitter leaves of a prediction: a pipeline's requests one after another, each stage taking as long as its device was seen to.
//
//   request k begins on a stage or link   when it has left the one before, and request k - 1 has left this one
//   request k leaves the source           when request k - W has come back
//
// Of replicas, request k has the stage and links of replica k mod n, and comes back when request k - 1 has.
//
// That is a max-plus (Lindley) recursion, O(requests x stages). Times are those of evaluate(), a stage's multiplied with its device's
// factors, which are drawn in blocks of neighbours (circular block bootstrap, Politis and Romano 1992) and scaled to a mean of 1, for
// predicted busy times are means. Without jitter the outcome is evaluate()'s to the nanosecond, with it the throughput is never more.
//
// Simpler than a pipeline is:
//   - what a lone request takes of a stage beyond a busy one delays every request, as in evaluate()'s latency, and occupies nothing
//   - links of one medium take turns a request at a time: from one to the next lies the sum of what it needs of the medium. In which order
//     messages of several requests wait for each other there is left out
//   - there is room for all that waits between stages; devices jitter independently of each other, links do not
#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::planning {

struct ReplayOptions {
  /// That are looked at, after as many, or twice the window, that fill the pipeline.
  int requests = 2000;
  int block = 16;  ///< neighbours that are drawn together
  std::uint64_t seed = 1;
};

/// A placement under a window.
struct ReplayOutcome {
  int window = 1;
  double throughput_per_s = 0;  ///< requests, as OperatingPoint's
  Nanoseconds response_p50{};   ///< of replicas, of each turn's slowest request
  Nanoseconds response_p95{};
  double share = 1;  ///< of the throughput without jitter under the same window; at most 1
};

/// Whether jitter is known of all devices of a placement that evaluate() takes.
bool knows_jitter(const CostInputs& inputs, const Placement& placement);

/// `inputs` pass check(); options are 1 or more. Devices without factors do not jitter. The same for the same seed. Fails: as evaluate() does;
/// kInvalidArgument (a window that is not 1 to kLargestSearchedWindow).
Expected<ReplayOutcome> replay(const CostInputs& inputs, const Placement& placement, int window,
                               const ReplayOptions& options = {});

/// Under the smallest window whose throughput is within 1 % of the best up to twice ceil(L / B), or up to `most_window` where that is less.
/// As replay() otherwise.
Expected<ReplayOutcome> replay_open(const CostInputs& inputs, const Placement& placement,
                                    int most_window, const ReplayOptions& options = {});

}  // namespace pareto::planning
