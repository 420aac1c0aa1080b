// Splits what a plan takes into the part of the devices and that of the network. If a prediction
// errs in what devices take, the plan's figures err by the devices' share of that error.
#pragma once

#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::planning {

/// Elasticities of a plan's figures: the relative change of each, divided by the relative change of
/// what all devices take. They lie between 0 (only the network counts) and 1 (only devices count).
struct ComputeShare {
  double latency = 1;
  double throughput = 1;
};

/// The compute shares of placements with the same inputs.
///
/// Threads: one owner; share_of() may be called by several at once.
class ComputeShares {
 public:
  /// Takes inputs that pass check().
  explicit ComputeShares(const CostInputs& inputs);

  /// Returns the shares of a placement. `evaluation` is that of the placement with the inputs.
  /// `window`: requests in flight, at least 1. Fails: whatever evaluate() returns.
  Expected<ComputeShare> share_of(const Placement& placement, const Evaluation& evaluation,
                                  int window) const;

 private:
  CostInputs slower_;
};

}  // namespace pareto::planning
