#include "coordinator/tasks/device_worker.h"

#include <atomic>
#include <map>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/load.h"

namespace pareto::tasks {
namespace {

/// The one shard that is being loaded.
class ShardAtHand final : public cluster::Workload {
 public:
  void take(const plan::Shard& shard, const runtime::WeightSource& weights) {
    shard_ = &shard;
    weights_ = &weights;
  }
  Expected<plan::Shard> shard(const plan::ShardOperators&) override { return *shard_; }
  Expected<Tensor> weight(const Digest& digest) override { return (*weights_)(digest); }
  Expected<std::vector<Value>> example(std::int64_t batch, std::uint64_t seed) override {
    return plan::make_examples(shard_->inputs, batch, seed);
  }

 private:
  const plan::Shard* shard_ = nullptr;
  const runtime::WeightSource* weights_ = nullptr;
};

/// Returns whether an error says that the device, or the way to it, is gone. Any other one is the
/// stage's own.
bool is_loss(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kClosed || code == ErrorCode::kCorrupt;
}

class DeviceWorker final : public Worker {
 public:
  DeviceWorker(cluster::Cluster& cluster, cluster::TransportSet& transports, std::string device,
               DeviceWorkerOptions options)
      : cluster_(cluster),
        transports_(transports),
        device_(std::move(device)),
        options_(std::move(options)),
        pool_(workload_) {}

  Expected<std::string> load(StageId stage, const plan::Shard& shard,
                             const runtime::WeightSource& weights,
                             const runtime::RunnerOptions& options) override {
    workload_.take(shard, weights);
    plan::Plan plan;
    plan.model = shard.model;
    plan.stages = {{device_, shard.begin, shard.end}};
    plan.transport = options_.transport;
    plan.batch = options.batch;
    plan.settings.engine = options.engine;
    plan.settings.threads = 1;
    PARETO_ASSIGN(plan, cluster::with_transports_named(plan, cluster_));
    LoadedStage loaded;
    PARETO_ASSIGN(loaded.deployment, cluster::Deployment::open(plan, cluster_, pool_, transports_));
    cluster::Deployment& deployment = *loaded.deployment;
    loaded.load =
        std::make_unique<load::Load>(deployment.source(), deployment.sink(), deployment.pipeline());
    std::string engine = deployment.shards().front()->loaded.engine;
    stages_[stage] = std::move(loaded);
    return engine;
  }

  void unload(StageId stage) override { stages_.erase(stage); }

  Expected<std::vector<Value>> run(StageId stage, std::vector<Value> inputs) override {
    const auto found = stages_.find(stage);
    if (found == stages_.end()) {
      return fail(ErrorCode::kInternal, "{}: stage {} is not loaded", device_, stage);
    }
    load::LoadOptions options;
    options.request_timeout = options_.timeout;
    auto result =
        with_context(found->second.load->run(Tuple{std::move(inputs)}, options), "{}", device_);
    if (!result) {
      if (is_loss(result.error().code)) give_up();
      return tl::unexpected(std::move(result).error());
    }
    const auto* const outputs = result->last_output.get_if<Tuple>();
    if (outputs == nullptr) {
      return fail(ErrorCode::kCorrupt, "{}: a result that is no tuple", device_);
    }
    return outputs->items;
  }

  bool may_be_lost() const override { return true; }
  bool is_lost() const override { return lost_; }

 private:
  struct LoadedStage {
    std::unique_ptr<cluster::Deployment> deployment;
    std::unique_ptr<load::Load> load;
  };

  /// Waits for nothing on that device from now on.
  void give_up() {
    lost_ = true;
    cluster_.abandon({device_});
    for (auto& [stage, loaded] : stages_) loaded.deployment->abandon();
  }

  cluster::Cluster& cluster_;
  cluster::TransportSet& transports_;
  const std::string device_;
  const DeviceWorkerOptions options_;
  ShardAtHand workload_;
  cluster::ShardPool pool_;
  std::map<StageId, LoadedStage> stages_;
  std::atomic<bool> lost_{false};
};

}  // namespace

std::unique_ptr<Worker> make_device_worker(cluster::Cluster& cluster,
                                           cluster::TransportSet& transports,
                                           const std::string& device,
                                           const DeviceWorkerOptions& options) {
  return std::make_unique<DeviceWorker>(cluster, transports, device, options);
}

}  // namespace pareto::tasks
