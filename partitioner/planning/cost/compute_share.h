// How much of what a plan takes is the devices' doing, and how much the network's: where a prediction errs by what devices take, the plan's
// figures err by so much of it.
#pragma once

#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::planning {

/// By what share of it each figure changes when all devices are slower by one: elasticities, 0 (the network alone) to 1 (devices alone).
struct ComputeShare {
  double latency = 1;
  double throughput = 1;
};

/// Threads: one owner; share_of may be called by several at once.
class ComputeShares {
 public:
  /// `inputs` pass check().
  explicit ComputeShares(const CostInputs& inputs);

  /// `evaluation`: of the placement with the inputs; `window`: requests in flight, at least 1. Fails as evaluate does.
  Expected<ComputeShare> share_of(const Placement& placement, const Evaluation& evaluation,
                                  int window) const;

 private:
  CostInputs slower_;
};

}  // namespace pareto::planning
