#include "coordinator/cluster/deployment.h"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/transport_choice.h"
#include "core/base/text.h"
#include "core/control/hello.h"
#include "core/transport/prime.h"
#include "core/transport/warm_link.h"

namespace pareto::cluster {
namespace {

using transport::PingWay;

constexpr std::chrono::milliseconds kFarewell{200};

std::uint64_t random_pipeline() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

std::vector<std::string> transports_of(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plan.links(); ++i) names.push_back(plan.transport_of(i));
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

control::ShardSettings shard_settings(const plan::Plan& plan) {
  return {plan.engine, plan.precision, plan.threads, plan.message_batch(), plan.max_error};
}

plan::Plan plan_with(const control::ShardSettings& settings) {
  plan::Plan plan;
  plan.batch = settings.batch;
  plan.engine = settings.engine;
  plan.precision = settings.precision;
  plan.threads = settings.threads;
  plan.max_error = settings.max_error;
  return plan;
}

Expected<std::unique_ptr<Deployment>> Deployment::open(const plan::Plan& plan,
                                                       const Cluster& cluster, ShardPool& pool,
                                                       TransportSet& transports,
                                                       const DeploymentOptions& options) {
  // From here on the destructor undoes what was done.
  std::unique_ptr<Deployment> deployment(new Deployment(options));
  deployment->make_lanes(plan);
  PARETO_TRY(deployment->find_devices(plan, cluster));
  PARETO_ASSIGN(deployment->shards_, deployment->load_shards(plan, pool));
  PARETO_ASSIGN(deployment->codecs_, deployment->choose_codecs(plan, deployment->shards_));
  const TimePoint began = std::chrono::steady_clock::now();
  // The last first, as the stages of each: those from first_open_ on are open.
  for (std::size_t i = deployment->lanes_.size(); i-- > 0;) {
    PARETO_TRY(deployment->open_lane(plan, deployment->lanes_[i], transports));
  }
  for (Lane& lane : deployment->lanes_) PARETO_TRY(deployment->prime_links(lane));
  if (plan.replicated) {
    std::vector<ReplicaLinks> links;
    for (const Lane& lane : deployment->lanes_) {
      links.push_back({lane.pipeline, lane.source.get(), lane.sink.get()});
    }
    deployment->turns_ = std::make_unique<TurnLinks>(std::move(links));
  }
  deployment->linking_ = std::chrono::steady_clock::now() - began;
  return deployment;
}

void Deployment::make_lanes(const plan::Plan& plan) {
  const std::uint64_t pipeline = random_pipeline();
  const std::size_t stages = plan.stages.size() / plan.turn();
  for (std::size_t i = 0; i < plan.turn(); ++i) {
    Lane& lane = lanes_.emplace_back();
    lane.pipeline = pipeline + i;
    lane.first = i * stages;
    lane.end = lane.first + stages;
  }
}

Expected<bool> Deployment::change_to(const plan::Plan& plan, ShardPool& pool) {
  const auto same_device = [](const plan::StagePlan& stage, const DaemonClient* device) {
    return stage.device == device->config().name;
  };
  if (!std::ranges::equal(plan.stages, devices_, same_device) || plan.turn() != turn() ||
      transports_of(plan) != transports_) {
    return false;
  }
  PARETO_ASSIGN(std::vector<ShardLease> shards, load_shards(plan, pool));
  for (const Lane& lane : lanes_) {
    if (shards[lane.first]->input_bytes != shards_[lane.first]->input_bytes ||
        shards[lane.end - 1]->output_bytes != shards_[lane.end - 1]->output_bytes) {
      return false;
    }
  }
  PARETO_ASSIGN(const std::vector<std::string> codecs, choose_codecs(plan, shards));
  if (codecs != codecs_) return false;
  usable_ = false;
  PARETO_ASSIGN(earlier_, of_every_stage<control::StageReport>(devices_.size(), [&](std::size_t i) {
                  return devices_[i]->change_shard(lane_of(i).pipeline, number_of(i),
                                                   shards[i]->loaded.handle);
                }));
  usable_ = true;
  shards_ = std::move(shards);
  return true;
}

Deployment::~Deployment() {
  for (const Lane& lane : lanes_) {
    if (lane.source) {
      wire::Message end;
      end.kind = wire::MessageKind::kEnd;
      end.pipeline = lane.pipeline;
      // A courtesy: a stage that is gone or stuck is closed all the same.
      if (!abandoned_) static_cast<void>(lane.source->send(end, deadline_after(kFarewell)));
      leave(*lane.source);
    }
    if (lane.sink) leave(*lane.sink);
  }
  for (std::size_t i = first_open_; i < devices_.size(); ++i) {
    static_cast<void>(devices_[i]->close_stage(lane_of(i).pipeline, number_of(i)));
  }
}

void Deployment::leave(transport::Link& link) const {
  if (abandoned_) return link.abort();
  link.close();
}

std::vector<std::uint64_t> Deployment::wire_bytes() const {
  std::vector<std::uint64_t> bytes(round_trips_.size());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto status = devices_[i]->status(options_.link_timeout);
    if (!status) continue;
    for (const control::StageReport& stage : status->stages) {
      const std::uint64_t requests = stage.requests - earlier_[i].requests;
      if (stage.pipeline != lane_of(i).pipeline || stage.stage != number_of(i) || requests == 0) {
        continue;
      }
      const std::size_t link = link_into(i);
      bytes[link] = (stage.bytes_received - earlier_[i].bytes_received) / requests;
      if (i + 1 < lane_of(i).end) continue;
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
    if (i + 1 == lane_of(i).end) {
      PARETO_TRY(data_address(*device, plan.transport_of(plan.link_into(i) + 1)));
    }
    devices.push_back(device);
  }
  devices_ = std::move(devices);
  first_open_ = devices_.size();
  transports_ = transports_of(plan);
  earlier_.resize(devices_.size());
  round_trips_.resize(plan.links());
  return {};
}

Expected<std::vector<ShardLease>> Deployment::load_shards(const plan::Plan& plan,
                                                          ShardPool& pool) const {
  return of_every_stage<ShardLease>(devices_.size(), [&](std::size_t i) {
    return pool.acquire(*devices_[i], plan.operators_of(i), shard_settings(plan));
  });
}

Expected<std::vector<std::string>> Deployment::choose_codecs(
    const plan::Plan& plan, const std::vector<ShardLease>& shards) const {
  CodecChooser own;
  CodecChooser& chooser = options_.codecs == nullptr ? own : *options_.codecs;
  return chooser.choose(plan, devices_, shards);
}

Expected<> Deployment::open_lane(const plan::Plan& plan, Lane& lane, TransportSet& transports) {
  std::string downstream;
  PARETO_ASSIGN(transport::Transport * to_source,
                transports.named(plan.transport_of(link_into(lane.first))));
  PARETO_ASSIGN(transport::Transport * to_sink,
                transports.named(plan.transport_of(link_into(lane.end - 1) + 1)));
  Expected<> connected;
  {
    std::jthread sink;
    for (std::size_t i = lane.end; i-- > lane.first;) {
      PARETO_ASSIGN(OpenedStage opened, open_stage(plan, i, downstream));
      downstream = std::move(opened.upstream);
      if (i + 1 < lane.end) continue;
      sink = std::jthread([&, address = std::move(opened.sink)] {
        connected = connect_sink(lane, *to_sink, address);
      });
    }
    PARETO_TRY(connect_source(lane, *to_source, downstream));
  }
  return connected;
}

Expected<OpenedStage> Deployment::open_stage(const plan::Plan& plan, std::size_t stage,
                                             const std::string& downstream) {
  control::StageRequest request;
  request.pipeline = lane_of(stage).pipeline;
  request.stage = number_of(stage);
  request.shard = shards_[stage]->loaded.handle;
  request.transport = plan.transport_of(link_into(stage));
  request.downstream_transport = plan.transport_of(link_into(stage) + 1);
  request.downstream = downstream;
  request.queue = options_.queue;
  // A request that the next device would refuse is refused before it is sent, and fails alone.
  const bool sends_on = stage + 1 < lane_of(stage).end;
  request.max_frame_bytes =
      sends_on ? limits_to(stage + 1).max_frame_bytes : transport::Limits{}.max_frame_bytes;
  request.payload_checksum = options_.payload_checksum;
  if (stage < codecs_.size()) request.codec = codecs_[stage];
  if (stage < options_.profiled_compute.size()) {
    request.profiled_compute = options_.profiled_compute[stage];
  }
  PARETO_ASSIGN(OpenedStage opened,
                with_context(devices_[stage]->open_stage(request), "stage {}", stage));
  first_open_ = stage;
  return opened;
}

transport::Limits Deployment::limits_to(std::size_t stage) const {
  transport::Limits limits;
  limits.payload_checksum = options_.payload_checksum;
  const std::uint64_t most = devices_[stage]->info().max_frame_bytes;
  if (most > 0) limits.max_frame_bytes = std::min(limits.max_frame_bytes, most);
  return limits;
}

Expected<> Deployment::connect_source(Lane& lane, transport::Transport& transport,
                                      const std::string& address) {
  PARETO_ASSIGN(lane.source,
                with_context(control::connect_to_stage(
                                 transport, address, {lane.pipeline, 0, control::Role::kUpstream},
                                 deadline_after(options_.link_timeout), limits_to(lane.first)),
                             "the source's link to stage {} on {}", lane.first,
                             devices_[lane.first]->config().name));
  return {};
}

Expected<> Deployment::connect_sink(Lane& lane, transport::Transport& transport,
                                    const std::string& address) {
  const std::size_t last = lane.end - 1;
  PARETO_ASSIGN(
      lane.sink,
      with_context(control::connect_to_stage(transport, address,
                                             {lane.pipeline, number_of(last), control::Role::kSink},
                                             deadline_after(options_.link_timeout)),
                   "the sink's link to stage {} on {}", last, devices_[last]->config().name));
  return {};
}

Expected<> Deployment::prime_links(Lane& lane) {
  const std::size_t stages = lane.end - lane.first;
  std::vector<Expected<>> results(stages + 2);
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { results[stages] = prime_source(lane); });
    threads.emplace_back([&] { results[stages + 1] = prime_sink(lane); });
    for (std::size_t i = 0; i < stages; ++i) {
      threads.emplace_back([&, i] { results[i] = start_stage(lane.first + i); });
    }
  }
  for (Expected<>& result : results) PARETO_TRY(std::move(result));
  return {};
}

Expected<> Deployment::start_stage(std::size_t stage) {
  PARETO_ASSIGN(const Nanoseconds round_trip,
                with_context(devices_[stage]->start_stage(lane_of(stage).pipeline, number_of(stage),
                                                          options_.link_timeout),
                             "stage {}", stage));
  // The last stage's next is the sink, which is measured from here.
  if (stage + 1 < lane_of(stage).end) round_trips_[link_into(stage) + 1] = round_trip;
  return {};
}

Expected<> Deployment::prime_source(Lane& lane) {
  const std::uint64_t bytes = shards_[lane.first]->input_bytes;
  PARETO_ASSIGN(
      const auto figures,
      with_context(transport::prime(*lane.source, lane.pipeline, bytes, PingWay::kThere, in_time()),
                   "priming the source's link to stage {} on {}", lane.first,
                   devices_[lane.first]->config().name));
  lane.source = transport::keep_warm(std::move(lane.source), lane.pipeline, figures, bytes);
  round_trips_[link_into(lane.first)] = figures.round_trip;
  return {};
}

Expected<> Deployment::prime_sink(Lane& lane) {
  const std::size_t last = lane.end - 1;
  PARETO_ASSIGN(const auto figures, with_context(transport::prime(*lane.sink, lane.pipeline,
                                                                  shards_[last]->output_bytes,
                                                                  PingWay::kBack, in_time()),
                                                 "priming the sink's link to stage {} on {}", last,
                                                 devices_[last]->config().name));
  round_trips_[link_into(last) + 1] = figures.round_trip;
  return {};
}

}  // namespace pareto::cluster
