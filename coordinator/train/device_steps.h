// Steps of a pipeline of daemons that train. This process is its source (inputs, the command to
// step) and its sink (targets, losses).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/train/training_pipeline.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"
#include "core/wire/message.h"

namespace pareto::train {

/// A deployment whose stages train, at work. After a failure it is to be closed.
///
/// Threads: one owner. The constructor's arguments outlive it.
class DeviceSteps {
 public:
  /// `timeout`: the longest time of a step in which nothing comes from any device: no loss of a
  /// micro-batch, no gradients of one, no end of the step.
  DeviceSteps(cluster::Deployment& deployment, cluster::ModelWorkload& workload,
              std::chrono::milliseconds timeout)
      : deployment_(deployment), workload_(workload), timeout_(timeout) {}

  /// Sends the micro-batches of one step through the stages, and lets them learn. Fails: as
  /// TrainingPipeline::step().
  Expected<StepOutcome> step(const std::vector<MicroBatch>& batch, const StepOrder& order);
  /// Runs inputs through the stages without learning. Fails: as TrainingPipeline::evaluate().
  Expected<std::vector<Value>> evaluate(const std::vector<Value>& inputs);

 private:
  Expected<> send_batch(const std::vector<MicroBatch>& batch, const StepOrder& order);
  Expected<> send_command(const StepOrder& order, double scale);
  /// Sends all that a step needs, and takes its gradients. Sets the norm if it is asked for.
  Expected<> drive(const std::vector<MicroBatch>& batch, const StepOrder& order,
                   double& gradient_norm);
  Expected<std::vector<plan::GradientNorm>> receive_gradients(std::size_t micro_batches);
  Expected<> receive_outcomes(const std::vector<MicroBatch>& batch, StepOutcome& outcome);
  Expected<wire::Message> receive(transport::Link& link);
  /// Returns why a step failed: a device that is lost, or what a stage says.
  Error why(const Error& error);

  cluster::Deployment& deployment_;
  cluster::ModelWorkload& workload_;
  const std::chrono::milliseconds timeout_;
  std::atomic<TimePoint> heard_{};  ///< when something came last, over either link
  std::uint64_t evaluations_ = 0;
};

}  // namespace pareto::train
