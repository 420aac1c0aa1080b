// Measures steps of training in place of requests: one trial, a unit (one round of it) at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/sweep/measuring_rules.h"
#include "coordinator/sweep/trial_meter.h"
#include "coordinator/train/training_pipeline.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/training.h"
#include "partitioner/model/graph/model.h"

namespace pareto::sweep {

/// Returns how trials are trained: plain SGD with a momentum of 0.9.
plan::TrainingSettings measured_training();

/// Returns the samples of each micro-batch of a step.
std::vector<std::int64_t> training_sizes(const plan::Plan& plan);

/// Returns made-up samples of a plan's batch in its micro-batches, with labels of the model's
/// classes. Fails: kInvalidArgument (the model is no classifier), and as Workload::example().
Expected<std::vector<train::MicroBatch>> example_batch(const model::Model& model,
                                                       const plan::Plan& plan,
                                                       cluster::ModelWorkload& workload);

/// Steps on batches that are made up, with labels of the model's classes.
///
/// Threads: one owner. The constructor's arguments outlive it.
class TrainingMeter {
 public:
  TrainingMeter(const model::Model& model, cluster::ModelWorkload& workload,
                std::chrono::milliseconds timeout)
      : model_(model), workload_(workload), timeout_(timeout) {}

  /// Measures one round. A request of the round is a step over the plan's batch, in its
  /// micro-batches. Its latency is that of the step, and so is the interval until the next one
  /// ends. `fresh`: the deployment never took a step. Fails: kInvalidArgument (the model is no
  /// classifier), and as DeviceSteps::step.
  Expected<MeasuredRound> measure(cluster::Deployment& deployment, const plan::Plan& plan,
                                  int round, bool fresh, const UnitBudget& budget);

 private:
  const model::Model& model_;
  cluster::ModelWorkload& workload_;
  const std::chrono::milliseconds timeout_;
  std::uint64_t steps_ = 0;
};

}  // namespace pareto::sweep
