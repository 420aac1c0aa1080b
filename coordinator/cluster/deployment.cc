#include "coordinator/cluster/deployment.h"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/transport_choice.h"
#include "core/base/text.h"

namespace pareto::cluster {
namespace {

std::uint64_t random_pipeline() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

std::vector<std::string> transports_of(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plan.links(); ++i) names.push_back(plan.transport_of(i));
  return names;
}

/// Calls call(stage) for all stages at once. Returns what each returns, or the first stage's error.
template <typename Result, typename Call>
Expected<std::vector<Result>> of_every_stage(std::size_t stages, Call call) {
  std::vector<std::optional<Expected<Result>>> results(stages);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < stages; ++i) {
      threads.emplace_back([&, i] { results[i] = call(i); });
    }
  }
  std::vector<Result> all;
  for (std::size_t i = 0; i < stages; ++i) {
    PARETO_ASSIGN(Result result, with_context(std::move(*results[i]), "stage {}", i));
    all.push_back(std::move(result));
  }
  return all;
}

}  // namespace

control::ShardSettings shard_settings(const plan::Plan& plan, std::size_t stage) {
  return {plan.settings_of(stage), plan.message_batch()};
}

plan::Plan plan_with(const control::ShardSettings& settings) {
  plan::Plan plan;
  plan.batch = settings.batch;
  plan.settings = settings;
  return plan;
}

Expected<std::unique_ptr<Deployment>> Deployment::open(const plan::Plan& plan,
                                                       const Cluster& cluster, ShardPool& pool,
                                                       TransportSet& transports,
                                                       const DeploymentOptions& options) {
  // From here on the destructor undoes what was done.
  std::unique_ptr<Deployment> deployment(new Deployment(options));
  deployment->make_pipelines(plan);
  PARETO_TRY(deployment->find_devices(plan, cluster));
  PARETO_TRY(deployment->check_sharing());
  PARETO_ASSIGN(deployment->shards_, deployment->load_shards(plan, pool));
  PARETO_ASSIGN(deployment->codecs_, deployment->choose_codecs(plan, deployment->shards_));
  const TimePoint began = std::chrono::steady_clock::now();
  // The last one first, like the stages of each.
  for (std::size_t i = deployment->pipelines_.size(); i-- > 0;) {
    PARETO_TRY(deployment->pipelines_[i].open(transports));
  }
  for (Pipeline& pipeline : deployment->pipelines_) PARETO_TRY(pipeline.prime());
  if (plan.replicated) {
    std::vector<ReplicaLinks> links;
    for (const Pipeline& pipeline : deployment->pipelines_) {
      links.push_back({pipeline.id(), &pipeline.source(), &pipeline.sink()});
    }
    deployment->turns_ = std::make_unique<TurnLinks>(std::move(links));
  }
  deployment->linking_ = std::chrono::steady_clock::now() - began;
  return deployment;
}

void Deployment::make_pipelines(const plan::Plan& plan) {
  const Pipeline::Deployed deployed{options_, devices_,    shards_,
                                    codecs_,  transports_, round_trips_};
  const std::uint64_t id = random_pipeline();
  const std::size_t stages = plan.stages.size() / plan.turn();
  for (std::size_t i = 0; i < plan.turn(); ++i) {
    const std::size_t first = i * stages;
    // Replicas differ in the half of the id that everybody may see.
    pipelines_.emplace_back(deployed, id + (std::uint64_t{i} << 32), first, first + stages,
                            plan.link_into(first));
  }
}

Expected<> Deployment::check_sharing() const {
  if (options_.weight == 1 && options_.priority == 0 && !options_.deadlines) return {};
  for (const DaemonClient* const device : devices_) {
    if (!device->info().turns.empty()) continue;
    return fail(ErrorCode::kInvalidArgument,
                "{} runs paretod {}, which knows neither weights nor priorities nor deadlines: "
                "install this version there, or leave them out",
                device->config().name, device->info().version);
  }
  return {};
}

Expected<bool> Deployment::change_to(const plan::Plan& plan, ShardPool& pool) {
  const auto same_device = [](const plan::StagePlan& stage, const DaemonClient* device) {
    return stage.device == device->config().name;
  };
  // A stage that trains keeps its shard.
  if (options_.training) return false;
  if (!std::ranges::equal(plan.stages, devices_, same_device) || plan.turn() != turn() ||
      transports_of(plan) != transports_) {
    return false;
  }
  PARETO_ASSIGN(std::vector<ShardLease> shards, load_shards(plan, pool));
  for (const Pipeline& pipeline : pipelines_) {
    const std::size_t first = pipeline.first();
    const std::size_t last = pipeline.last();
    if (shards[first]->input_bytes != shards_[first]->input_bytes ||
        shards[last]->output_bytes != shards_[last]->output_bytes) {
      return false;
    }
  }
  PARETO_ASSIGN(const std::vector<std::string> codecs, choose_codecs(plan, shards));
  if (codecs != codecs_) return false;
  usable_ = false;
  PARETO_ASSIGN(earlier_, of_every_stage<control::StageReport>(devices_.size(), [&](std::size_t i) {
                  const auto [pipeline, number] = name_on_device(i);
                  return devices_[i]->change_shard(pipeline, number, shards[i]->loaded.handle);
                }));
  usable_ = true;
  shards_ = std::move(shards);
  return true;
}

Deployment::~Deployment() {
  for (Pipeline& pipeline : pipelines_) pipeline.leave(abandoned_);
  for (Pipeline& pipeline : pipelines_) pipeline.close_stages();
}

std::vector<std::uint64_t> Deployment::wire_bytes() const {
  std::vector<std::uint64_t> bytes(round_trips_.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto status = devices_[i]->status(options_.link_timeout);
    if (!status) continue;
    const Pipeline& pipeline = pipeline_of(i);
    for (const control::StageReport& stage : status->stages) {
      const std::uint64_t requests = stage.requests - earlier_[i].requests;
      if (std::pair(stage.pipeline, stage.stage) != name_on_device(i) || requests == 0) continue;
      const std::size_t link = pipeline.link_into(i);
      bytes[link] = (stage.bytes_received - earlier_[i].bytes_received) / requests;
      if (i < pipeline.last()) continue;
      bytes[link + 1] = (stage.bytes_sent - earlier_[i].bytes_sent) / requests;
    }
  }
  return bytes;
}

Expected<> Deployment::find_devices(const plan::Plan& plan, const Cluster& cluster) {
  std::vector<DaemonClient*> devices;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    PARETO_ASSIGN(DaemonClient * device, cluster.find(plan.stages[i].device));
    PARETO_TRY(data_address(*device, plan.transport_of(plan.link_into(i))));
    // The sink connects to the last stage.
    if (i == pipeline_of(i).last()) {
      PARETO_TRY(data_address(*device, plan.transport_of(plan.link_into(i) + 1)));
    }
    devices.push_back(device);
  }
  devices_ = std::move(devices);
  transports_ = transports_of(plan);
  earlier_.resize(devices_.size());
  round_trips_.resize(plan.links());
  return {};
}

Expected<std::vector<ShardLease>> Deployment::load_shards(const plan::Plan& plan,
                                                          ShardPool& pool) const {
  std::vector<StageTraining> training;
  if (options_.training) {
    PARETO_ASSIGN(training, options_.training(plan, devices_));
  }
  return of_every_stage<ShardLease>(devices_.size(), [&](std::size_t i) {
    control::ShardSettings settings = shard_settings(plan, i);
    if (!training.empty()) {
      settings.training = training[i].settings;
      settings.loss_manifest = training[i].loss_manifest;
      settings.loss_archive = training[i].loss_archive;
    }
    return pool.acquire(*devices_[i], plan.operators_of(i), settings);
  });
}

Expected<std::vector<std::string>> Deployment::choose_codecs(
    const plan::Plan& plan, const std::vector<ShardLease>& shards) const {
  CodecChooser own;
  CodecChooser& chooser = options_.codecs == nullptr ? own : *options_.codecs;
  return chooser.choose(plan, devices_, shards);
}

}  // namespace pareto::cluster
