#include "coordinator/tasks/device_worker.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/load.h"
#include "core/base/clock.h"

namespace pareto::tasks {
namespace {

/// The one shard that a stage runs. It is only asked for while the stage is loaded.
class OneShard final : public cluster::Workload {
 public:
  OneShard(const plan::Shard& shard, const runtime::WeightSource& weights)
      : shard_(shard), weights_(weights) {}
  Expected<plan::Shard> shard(const plan::ShardOperators&) override { return shard_; }
  Expected<Tensor> weight(const Digest& digest) override { return weights_(digest); }
  Expected<std::vector<Value>> example(std::int64_t batch, std::uint64_t seed) override {
    return plan::make_examples(shard_.inputs, batch, seed);
  }

 private:
  const plan::Shard shard_;
  const runtime::WeightSource weights_;
};

/// A stage on its device. What is declared last goes first.
struct LoadedStage {
  std::unique_ptr<OneShard> workload;
  std::unique_ptr<cluster::ShardPool> pool;
  std::unique_ptr<cluster::Deployment> deployment;
  std::unique_ptr<load::Load> load;
  std::size_t outputs = 0;
  std::chrono::milliseconds timeout{};
};

/// Returns whether an error may mean that the device, or the way to it, is gone. Any other one is
/// the request's own.
bool is_loss(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kClosed || code == ErrorCode::kCorrupt;
}

class DeviceWorker final : public Worker {
 public:
  /// The workers of a device share what tells whether it is lost.
  struct Place {
    cluster::Cluster& cluster;
    cluster::TransportSet& transports;
    std::string device;
    DeviceWorkerOptions options;
    std::atomic<bool> lost{false};
  };
  DeviceWorker(std::shared_ptr<Place> place, std::size_t copy)
      : place_(std::move(place)), copy_(copy) {}
  ~DeviceWorker() override {
    if (!place_->lost) return;
    for (auto& [id, stage] : stages_) stage.deployment->abandon();
  }

  Expected<std::string> load(StageId id, const plan::Shard& shard,
                             const runtime::WeightSource& weights,
                             const runtime::RunnerOptions& options) override {
    plan::Shard own = shard;
    // Equal shards are one to a device, which runs one request of it at a time.
    if (copy_ > 0) own.model += fmt::format("#{}", copy_ + 1);
    plan::Plan plan;
    plan.model = own.model;
    plan.stages = {{place_->device, shard.begin, shard.end}};
    plan.transport = place_->options.transport;
    plan.batch = options.batch;
    plan.settings.engine = options.engine;
    plan.settings.threads = 1;
    PARETO_ASSIGN(plan, cluster::with_transports_named(plan, place_->cluster));
    LoadedStage stage;
    stage.outputs = shard.outputs.size();
    stage.timeout = place_->options.timeout;
    stage.workload = std::make_unique<OneShard>(own, weights);
    stage.pool = std::make_unique<cluster::ShardPool>(*stage.workload);
    PARETO_ASSIGN(stage.deployment, cluster::Deployment::open(plan, place_->cluster, *stage.pool,
                                                              place_->transports));
    cluster::Deployment& deployment = *stage.deployment;
    stage.load =
        std::make_unique<load::Load>(deployment.source(), deployment.sink(), deployment.pipeline());
    std::string engine = deployment.shards().front()->loaded.engine;
    stages_.insert_or_assign(id, std::move(stage));
    return engine;
  }

  void unload(StageId id) override { stages_.erase(id); }

  Expected<std::vector<Value>> run(StageId id, std::vector<Value> inputs) override {
    const auto found = stages_.find(id);
    if (found == stages_.end()) {
      return fail(ErrorCode::kInternal, "{}: stage {} is not loaded", place_->device, id);
    }
    auto outputs =
        with_context(run_on_device(found->second, std::move(inputs)), "{}", place_->device);
    if (!outputs && is_loss(outputs.error().code)) {
      place_->lost = true;
      place_->cluster.abandon({place_->device});
    }
    return outputs;
  }

  bool may_be_lost() const override { return true; }
  bool is_lost() const override { return place_->lost; }

 private:
  static Expected<std::vector<Value>> run_on_device(LoadedStage& stage, std::vector<Value> inputs) {
    load::LoadOptions options;
    options.request_timeout = stage.timeout;
    PARETO_ASSIGN(load::LoadResult result, stage.load->run(Tuple{std::move(inputs)}, options));
    stage.timeout = std::max(stage.timeout,
                             load::timeout_for(result.samples.front().latency(), 1, stage.timeout));
    auto* const outputs = result.last_output.get_if<Tuple>();
    if (outputs == nullptr || outputs->items.size() != stage.outputs) {
      return fail(ErrorCode::kCorrupt, "a result of {} values, of which there should be {}",
                  outputs == nullptr ? 0 : outputs->items.size(), stage.outputs);
    }
    return outputs->items;
  }

  const std::shared_ptr<Place> place_;
  const std::size_t copy_;
  std::map<StageId, LoadedStage> stages_;
};

}  // namespace

Workers make_device_workers(cluster::Cluster& cluster, cluster::TransportSet& transports,
                            const std::string& device, std::size_t count, std::size_t cores,
                            const DeviceWorkerOptions& options) {
  const std::shared_ptr<DeviceWorker::Place> place(
      new DeviceWorker::Place{cluster, transports, device, options});
  Workers workers;
  for (std::size_t i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<DeviceWorker>(place, i % std::max<std::size_t>(1, cores)));
  }
  return workers;
}

}  // namespace pareto::tasks
