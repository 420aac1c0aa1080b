#include "coordinator/sweep/reference_plan.h"

#include <cstddef>
#include <limits>
#include <utility>

namespace pareto::sweep {
namespace {

/// The network's condition while the plan is timed.
constexpr const char* kAtRest = "";

/// The plan's place among the deployments, next to the places of trials.
constexpr std::size_t kKey = std::numeric_limits<std::size_t>::max();

}  // namespace

ReferencePlan::ReferencePlan(const std::vector<results::TrialRecord>& trials, TrialBench& bench,
                             PassClock& clock, std::chrono::milliseconds timeout)
    : bench_(bench), clock_(clock), timeout_(timeout) {
  for (const results::TrialRecord& trial : trials) {
    if (trial.status != results::TrialStatus::kOk) continue;
    const bool one_device = trial.plan.stages.size() == 1;
    if (trial_ == nullptr || one_device) trial_ = &trial;
    if (one_device) break;
  }
}

ReferenceReading ReferencePlan::read(const std::function<void()>& begins) {
  const auto rest = [&] { return bench_.conditions().rest(); };
  if (!clock_.timed(&results::TimeSpent::network_s, rest)) return {};
  ReferenceReading reading;
  reading.loop_ms = clock_.timed(&results::TimeSpent::sentinel_s, time_reference_loop);
  if (trial_ == nullptr || bench_.lost().loss_of(trial_->plan)) return reading;
  begins();
  const auto lease = bench_.open(kKey, trial_->plan, kAtRest);
  if (!lease) {
    bench_.give_up(kKey, trial_->plan, lease.error().code);
    return reading;
  }
  auto plan_ms = clock_.timed(&results::TimeSpent::sentinel_s, [&] {
    return time_reference_plan(*lease->deployment, trial_->plan, bench_.request_of(*trial_),
                               timeout_);
  });
  if (plan_ms) {
    reading.plan_ms = *std::move(plan_ms);
  } else {
    bench_.give_up(kKey, trial_->plan, plan_ms.error().code);
  }
  return reading;
}

}  // namespace pareto::sweep
