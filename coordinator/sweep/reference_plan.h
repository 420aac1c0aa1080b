// The plan that tells a disturbed machine from a slow plan: with the loop of reference_reading.h it
// is timed before and after each pass.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/sweep/pass_clock.h"
#include "coordinator/sweep/reference_reading.h"
#include "coordinator/sweep/trial_bench.h"

namespace pareto::sweep {

/// The trial whose times are compared, and the measurement of it.
///
/// Threads: one owner. Its constructor's arguments outlive it.
class ReferencePlan {
 public:
  /// Takes the plan of the first trial on one device that has not failed; if there is none, of the
  /// first trial that has not failed. `timeout`: of a request.
  ReferencePlan(const std::vector<results::TrialRecord>& trials, TrialBench& bench,
                PassClock& clock, std::chrono::milliseconds timeout);

  /// Returns the id of its trial; empty if there is none.
  std::string id() const { return trial_ == nullptr ? "" : trial_->id; }
  /// Times the loop, then the plan, over the network at rest. `begins`: called before the plan is
  /// timed. Returns what it has if something fails: why a plan fails is recorded with its trial.
  ReferenceReading read(const std::function<void()>& begins);

 private:
  const results::TrialRecord* trial_ = nullptr;
  TrialBench& bench_;
  PassClock& clock_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace pareto::sweep
