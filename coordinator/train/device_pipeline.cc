#include "coordinator/train/device_pipeline.h"

#include <map>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/train/training_factory.h"

namespace pareto::train {
namespace {

/// Bytes of a stage's state: its weights, and at most two copies for the optimiser.
std::uint64_t most_state_bytes(const cluster::ResidentShard& shard) {
  constexpr std::uint64_t kCopies = 3;
  constexpr std::uint64_t kRoom = 1 << 20;
  return kCopies * shard.weight_bytes + kRoom;
}

}  // namespace

Expected<std::unique_ptr<DevicePipeline>> DevicePipeline::open(
    const model::Model& model, const model::Model& loss, const plan::Plan& plan,
    const plan::TrainingSettings& settings, const std::vector<plan::StateTensor>& state,
    const cluster::Cluster& cluster, cluster::ShardPool& pool, cluster::TransportSet& transports,
    const DevicePipelineOptions& options) {
  cluster::DeploymentOptions deployed = options.deployment;
  deployed.training = training_factory(model, loss, settings, state, options.gradient_codec);
  PARETO_ASSIGN(auto deployment,
                cluster::Deployment::open(plan, cluster, pool, transports, deployed));
  return std::unique_ptr<DevicePipeline>(
      new DevicePipeline(model, options.timeout, std::move(deployment)));
}

DevicePipeline::DevicePipeline(const model::Model& model, std::chrono::milliseconds timeout,
                               std::unique_ptr<cluster::Deployment> deployment)
    : workload_(model),
      deployment_(std::move(deployment)),
      steps_(*deployment_, workload_, timeout) {
  for (const cluster::DaemonClient* const device : deployment_->devices()) {
    names_.push_back(device->config().name);
  }
}

Expected<std::vector<plan::StateTensor>> DevicePipeline::state() {
  std::map<std::string, Tensor> by_name;
  for (std::size_t i = 0; i < deployment_->devices().size(); ++i) {
    const cluster::ResidentShard& shard = *deployment_->shards()[i];
    PARETO_ASSIGN(auto state, deployment_->devices()[i]->training_state(shard.loaded.handle,
                                                                        most_state_bytes(shard)));
    for (plan::StateTensor& entry : state) {
      by_name.emplace(std::move(entry.name), std::move(entry.tensor));
    }
  }
  std::vector<plan::StateTensor> all;
  for (auto& [name, tensor] : by_name) all.push_back({name, std::move(tensor)});
  return all;
}

}  // namespace pareto::train
