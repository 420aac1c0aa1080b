#include "partitioner/planning/cost/compute_share.h"

#include <algorithm>
#include <cmath>

namespace pareto::planning {
namespace {

/// Factor by which devices are made slower. It is so small that the bottleneck mostly stays where
/// it is, and large enough that whole nanoseconds do not matter.
constexpr double kSlower = 1.02;

Nanoseconds slower(Nanoseconds time) { return from_nanoseconds(kSlower * to_nanoseconds(time)); }

void slow_down(StageCosts& costs) {
  for (Nanoseconds& time : costs.compute) time = slower(time);
  for (Nanoseconds& time : costs.enter) time = slower(time);
  costs.overhead = slower(costs.overhead);
  if (costs.whole) costs.whole = slower(*costs.whole);
}

/// Returns the time of each batch beyond the first, in s.
double time_per_batch(const Evaluation& evaluation, int window) {
  return 1 / at_window(evaluation, window).throughput_per_s();
}

double elasticity(double before, double after) {
  return std::clamp(std::log(after / before) / std::log(kSlower), 0.0, 1.0);
}

}  // namespace

ComputeShares::ComputeShares(const CostInputs& inputs) : slower_(inputs) {
  for (DeviceCosts& device : slower_.devices) {
    slow_down(device);
    if (device.busy) slow_down(*device.busy);
    for (auto& values : device.early) {
      for (EarlyValue& value : values) value.lead = slower(value.lead);
    }
  }
}

Expected<ComputeShare> ComputeShares::share_of(const Placement& placement,
                                               const Evaluation& evaluation, int window) const {
  PARETO_ASSIGN(const Evaluation after, evaluate(slower_, placement));
  return ComputeShare{
      elasticity(static_cast<double>(evaluation.latency.count()),
                 static_cast<double>(after.latency.count())),
      elasticity(time_per_batch(evaluation, window), time_per_batch(after, window))};
}

}  // namespace pareto::planning
