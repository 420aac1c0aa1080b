// Tells a disturbed machine from a slow plan. One plan and one loop are timed before and after each
// pass through the trials (reference_plan.h). They stay the same during the whole sweep.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::sweep {

/// A pass is disturbed if one of its two p50s is further than this from the median of all passes.
inline constexpr double kReferenceTolerance = 0.1;
/// The fewest passes of which somebody can say which one is odd.
inline constexpr std::size_t kFewestPasses = 3;

/// The times taken between two passes, in ms: one for each request, or turn of the loop.
struct ReferenceReading {
  std::vector<double> plan_ms;  ///< empty: the plan could not be run
  std::vector<double> loop_ms;
};

/// Times a few turns of a loop that only computes, on the calling thread.
std::vector<double> time_reference_loop();
/// Times a few requests of the plan that is deployed, at window 1. No request may take longer than
/// `timeout`. Fails: as Load::run.
Expected<std::vector<double>> time_reference_plan(cluster::Deployment& deployment,
                                                  const plan::Plan& plan, const Value& request,
                                                  std::chrono::milliseconds timeout);

/// Makes the record of the pass between two readings.
results::PassRecord make_pass(int round, bool repeat, const ReferenceReading& before,
                              const ReferenceReading& after);

/// Returns the rounds to measure again, the most disturbed first: those whose pass was disturbed,
/// at most a third of all rounds (but one). A round that was measured again is left as it is.
std::vector<int> disturbed_rounds(const std::vector<results::PassRecord>& passes);

/// Returns in words, for the report, what is timed. `plan`: the id of the reference plan.
std::string describe_reference(const std::string& plan);
/// Returns in words the rule of disturbed_rounds(), and which rounds were measured again.
std::string describe_repeats(const std::vector<results::PassRecord>& passes);

}  // namespace pareto::sweep
