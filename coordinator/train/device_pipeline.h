// A model that is trained by daemons: a plan whose stages learn.
//
//   model + plan ──training_factory()──▶ settings of each stage ──Deployment──▶ stages that train
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/train/device_steps.h"
#include "coordinator/train/training_pipeline.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/training.h"
#include "partitioner/model/graph/model.h"

namespace pareto::train {

struct DevicePipelineOptions {
  cluster::DeploymentOptions deployment{};
  /// The codec by which gradients travel between stages, a name from core/wire/codec.h; empty: they
  /// travel as they are. Activations travel by the plan's codecs.
  std::string gradient_codec{};
  /// The longest that a device may take to answer while a step is under way.
  std::chrono::milliseconds timeout{60'000};
};

/// A deployed plan whose stages train.
///
/// Threads: one owner.
class DevicePipeline final : public TrainingPipeline {
 public:
  /// Deploys a plan whose transports are named. `loss` takes the model's output and the target.
  /// `state`: that of an earlier training to go on from; empty: the model's own weights. Model,
  /// cluster, pool and transports outlive it; `pool` is one of shards of `model`.
  /// Fails: as training_factory() and Deployment::open() do.
  static Expected<std::unique_ptr<DevicePipeline>> open(
      const model::Model& model, const model::Model& loss, const plan::Plan& plan,
      const plan::TrainingSettings& settings, const std::vector<plan::StateTensor>& state,
      const cluster::Cluster& cluster, cluster::ShardPool& pool, cluster::TransportSet& transports,
      const DevicePipelineOptions& options = {});

  Expected<StepOutcome> step(const std::vector<MicroBatch>& batch,
                             const StepOrder& order) override {
    return steps_.step(batch, order);
  }
  Expected<std::vector<Value>> evaluate(std::vector<Value> inputs) override {
    return steps_.evaluate(inputs);
  }
  Expected<std::vector<plan::StateTensor>> state() override;
  const std::vector<std::string>& devices() const override { return names_; }

 private:
  DevicePipeline(const model::Model& model, std::chrono::milliseconds timeout,
                 std::unique_ptr<cluster::Deployment> deployment);

  cluster::ModelWorkload workload_;
  const std::unique_ptr<cluster::Deployment> deployment_;
  DeviceSteps steps_;
  std::vector<std::string> names_;
};

}  // namespace pareto::train
