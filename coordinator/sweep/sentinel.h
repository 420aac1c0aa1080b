// Tells a disturbed machine from a slow plan: one plan and one loop, which stay the same all sweep long, are timed before and after
// each pass through the trials.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::sweep {

/// A pass is disturbed where one of its two p50s is further than this from the median of all passes.
inline constexpr double kSentinelTolerance = 0.1;
/// With fewer passes nobody can say which of them is the odd one.
inline constexpr std::size_t kFewestPasses = 3;

/// What was timed between two passes. In ms, one a request or a turn of the loop.
struct SentinelReading {
  std::vector<double> plan_ms;  ///< empty where the plan could not be run
  std::vector<double> loop_ms;
};

/// Times a few turns of a loop that only computes, on the calling thread.
std::vector<double> time_sentinel_loop();
/// Times a few requests of the plan that is deployed, at window 1; none may take longer than `timeout`. Fails: as Load::run.
Expected<std::vector<double>> time_sentinel_plan(cluster::Deployment& deployment,
                                                 const plan::Plan& plan, const Value& request,
                                                 std::chrono::milliseconds timeout);

/// The pass between two readings.
results::PassRecord make_pass(int round, bool repeat, const SentinelReading& before,
                              const SentinelReading& after);

/// The rounds to measure again, the most disturbed first: those whose pass was disturbed, at most a third of all rounds (but one).
/// A round that was measured again is left as it is.
std::vector<int> disturbed_rounds(const std::vector<results::PassRecord>& passes);

/// What is timed in words, for the report; `plan`: the id of the sentinel's.
std::string describe_sentinel(const std::string& plan);
/// The rule of disturbed_rounds, and which were measured again.
std::string describe_repeats(const std::vector<results::PassRecord>& passes);

}  // namespace pareto::sweep
