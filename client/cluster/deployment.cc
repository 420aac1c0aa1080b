#include "client/cluster/deployment.h"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "client/cluster/codec_choice.h"
#include "client/cluster/link_setup.h"
#include "core/base/text.h"
#include "core/transport/prime.h"
#include "core/transport/warm_link.h"

namespace pareto::client {
namespace {

using transport::PingWay;

constexpr std::chrono::milliseconds kFarewell{200};

std::uint64_t random_pipeline() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

Expected<> check_serves(const DaemonClient& device, const std::string& transport) {
  if (device.info().data.contains(transport)) return {};
  std::vector<std::string> names;
  for (const auto& [name, address] : device.info().data) names.push_back(name);
  return fail(ErrorCode::kNotFound, "{} has no data address for transport \"{}\", only {}",
              device.config().name, transport, join(names));
}

std::vector<std::string> transports_of(const Plan& plan) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= plan.stages.size(); ++i) names.push_back(plan.transport_of(i));
  return names;
}

/// Calls call(stage) for all stages at once: what each returns, or the first stage's error.
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

ShardSettings shard_settings(const Plan& plan) {
  return {plan.engine, plan.precision, plan.threads, plan.message_batch()};
}

Plan plan_with(const ShardSettings& settings) {
  Plan plan;
  plan.batch = settings.batch;
  plan.engine = settings.engine;
  plan.precision = settings.precision;
  plan.threads = settings.threads;
  return plan;
}

Expected<std::unique_ptr<Deployment>> Deployment::open(const Plan& plan, const Cluster& cluster,
                                                       ShardPool& pool, TransportSet& transports,
                                                       const DeploymentOptions& options) {
  // From here on the destructor undoes what was done.
  std::unique_ptr<Deployment> deployment(new Deployment(random_pipeline(), options));
  PARETO_TRY(deployment->find_devices(plan, cluster));
  PARETO_ASSIGN(deployment->shards_, deployment->load_shards(plan, pool));
  PARETO_ASSIGN(deployment->codecs_, deployment->choose_codecs(plan, deployment->shards_));
  const TimePoint began = std::chrono::steady_clock::now();
  PARETO_TRY(deployment->open_stages(plan, transports));
  PARETO_TRY(deployment->prime_links());
  deployment->linking_ = std::chrono::steady_clock::now() - began;
  return deployment;
}

Expected<bool> Deployment::change_to(const Plan& plan, ShardPool& pool) {
  const auto same_device = [](const StagePlan& stage, const DaemonClient* device) {
    return stage.device == device->config().name;
  };
  if (!std::ranges::equal(plan.stages, devices_, same_device) ||
      transports_of(plan) != transports_) {
    return false;
  }
  PARETO_ASSIGN(std::vector<ShardLease> shards, load_shards(plan, pool));
  if (shards.front()->input_bytes != shards_.front()->input_bytes ||
      shards.back()->output_bytes != shards_.back()->output_bytes) {
    return false;
  }
  PARETO_ASSIGN(const std::vector<std::string> codecs, choose_codecs(plan, shards));
  if (codecs != codecs_) return false;
  usable_ = false;
  PARETO_ASSIGN(earlier_, of_every_stage<StageReport>(devices_.size(), [&](std::size_t i) {
                  return devices_[i]->change_shard(pipeline_, static_cast<std::uint32_t>(i),
                                                   shards[i]->loaded.handle);
                }));
  usable_ = true;
  shards_ = std::move(shards);
  return true;
}

Deployment::~Deployment() {
  if (source_) {
    wire::Message end;
    end.kind = wire::MessageKind::kEnd;
    end.pipeline = pipeline_;
    // A courtesy: a stage that is gone or stuck is closed all the same.
    static_cast<void>(source_->send(end, deadline_after(kFarewell)));
    source_->close();
  }
  if (sink_) sink_->close();
  for (std::size_t i = first_open_; i < devices_.size(); ++i) {
    static_cast<void>(devices_[i]->close_stage(pipeline_, static_cast<std::uint32_t>(i)));
  }
}

std::vector<std::uint64_t> Deployment::wire_bytes() const {
  std::vector<std::uint64_t> bytes(devices_.size() + 1);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto status = devices_[i]->status(options_.link_timeout);
    if (!status) continue;
    for (const StageReport& stage : status->stages) {
      const std::uint64_t requests = stage.requests - earlier_[i].requests;
      if (stage.pipeline != pipeline_ || stage.stage != i || requests == 0) continue;
      bytes[i] = (stage.bytes_received - earlier_[i].bytes_received) / requests;
      if (i + 1 < devices_.size()) continue;
      bytes[i + 1] = (stage.bytes_sent - earlier_[i].bytes_sent) / requests;
    }
  }
  return bytes;
}

Expected<> Deployment::find_devices(const Plan& plan, const Cluster& cluster) {
  std::vector<DaemonClient*> devices;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    PARETO_ASSIGN(DaemonClient * device, cluster.find(plan.stages[i].device));
    PARETO_TRY(check_serves(*device, plan.transport_of(i)));
    devices.push_back(device);
  }
  PARETO_TRY(check_serves(*devices.back(), plan.transport_of(plan.stages.size())));
  devices_ = std::move(devices);
  first_open_ = devices_.size();
  transports_ = transports_of(plan);
  earlier_.resize(devices_.size());
  round_trips_.resize(devices_.size() + 1);
  return {};
}

Expected<std::vector<ShardLease>> Deployment::load_shards(const Plan& plan, ShardPool& pool) const {
  return of_every_stage<ShardLease>(devices_.size(), [&](std::size_t i) {
    return pool.acquire(*devices_[i], plan.operators_of(i), shard_settings(plan));
  });
}

Expected<std::vector<std::string>> Deployment::choose_codecs(
    const Plan& plan, const std::vector<ShardLease>& shards) const {
  CodecChooser own;
  CodecChooser& chooser = options_.codecs == nullptr ? own : *options_.codecs;
  return chooser.choose(plan, devices_, shards);
}

Expected<> Deployment::open_stages(const Plan& plan, TransportSet& transports) {
  std::string downstream;
  PARETO_ASSIGN(transport::Transport * to_source, transports.named(plan.transport_of(0)));
  PARETO_ASSIGN(transport::Transport * to_sink,
                transports.named(plan.transport_of(devices_.size())));
  Expected<> connected;
  {
    std::jthread sink;
    for (std::size_t i = devices_.size(); i-- > 0;) {
      PARETO_ASSIGN(OpenedStage opened, open_stage(plan, i, downstream));
      downstream = std::move(opened.upstream);
      if (i + 1 < devices_.size()) continue;
      sink = std::jthread(
          [&, address = std::move(opened.sink)] { connected = connect_sink(*to_sink, address); });
    }
    PARETO_TRY(connect_source(*to_source, downstream));
  }
  return connected;
}

Expected<OpenedStage> Deployment::open_stage(const Plan& plan, std::size_t stage,
                                             const std::string& downstream) {
  StageRequest request;
  request.pipeline = pipeline_;
  request.stage = static_cast<std::uint32_t>(stage);
  request.shard = shards_[stage]->loaded.handle;
  request.transport = plan.transport_of(stage);
  request.downstream_transport = plan.transport_of(stage + 1);
  request.downstream = downstream;
  request.queue = options_.queue;
  request.max_frame_bytes = transport::Limits{}.max_frame_bytes;
  if (stage < codecs_.size()) request.codec = codecs_[stage];
  if (stage < options_.profiled_compute.size()) {
    request.profiled_compute = options_.profiled_compute[stage];
  }
  PARETO_ASSIGN(OpenedStage opened,
                with_context(devices_[stage]->open_stage(request), "stage {}", stage));
  first_open_ = stage;
  return opened;
}

Expected<> Deployment::connect_source(transport::Transport& transport, const std::string& address) {
  PARETO_ASSIGN(
      source_, with_context(connect_to_stage(transport, address, {pipeline_, 0, "upstream"},
                                             options_.link_timeout),
                            "the source's link to stage 0 on {}", devices_.front()->config().name));
  return {};
}

Expected<> Deployment::connect_sink(transport::Transport& transport, const std::string& address) {
  const auto last = static_cast<std::uint32_t>(devices_.size() - 1);
  PARETO_ASSIGN(sink_, with_context(connect_to_stage(transport, address, {pipeline_, last, "sink"},
                                                     options_.link_timeout),
                                    "the sink's link to stage {} on {}", last,
                                    devices_.back()->config().name));
  return {};
}

Expected<> Deployment::prime_links() {
  const std::size_t stages = devices_.size();
  std::vector<Expected<>> results(stages + 2);
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { results[stages] = prime_source(); });
    threads.emplace_back([&] { results[stages + 1] = prime_sink(); });
    for (std::size_t i = 0; i < stages; ++i) {
      threads.emplace_back([&, i] { results[i] = start_stage(i); });
    }
  }
  for (Expected<>& result : results) PARETO_TRY(std::move(result));
  return {};
}

Expected<> Deployment::start_stage(std::size_t stage) {
  PARETO_ASSIGN(
      const Nanoseconds round_trip,
      with_context(devices_[stage]->start_stage(pipeline_, static_cast<std::uint32_t>(stage),
                                                options_.link_timeout),
                   "stage {}", stage));
  // The last stage's next is the sink, which is measured from here.
  if (stage + 1 < devices_.size()) round_trips_[stage + 1] = round_trip;
  return {};
}

Expected<> Deployment::prime_source() {
  const std::uint64_t bytes = shards_.front()->input_bytes;
  PARETO_ASSIGN(const auto figures, with_context(transport::prime(*source_, pipeline_, bytes,
                                                                  PingWay::kThere, in_time()),
                                                 "priming the source's link"));
  source_ = transport::keep_warm(std::move(source_), pipeline_, figures, bytes);
  round_trips_.front() = figures.round_trip;
  return {};
}

Expected<> Deployment::prime_sink() {
  PARETO_ASSIGN(const auto figures,
                with_context(transport::prime(*sink_, pipeline_, shards_.back()->output_bytes,
                                              PingWay::kBack, in_time()),
                             "priming the sink's link"));
  round_trips_.back() = figures.round_trip;
  return {};
}

}  // namespace pareto::client
