#include "coordinator/cluster/pipeline.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "coordinator/cluster/deployment.h"
#include "core/control/greeting.h"
#include "core/tls/credentials.h"
#include "core/transport/prime.h"

namespace pareto::cluster {
namespace {

using transport::PingWay;

constexpr std::chrono::milliseconds kFarewell{200};

void leave_link(transport::Link& link, bool abandoned) {
  if (abandoned) return link.abort();
  link.close();
}

TimePoint in_time(const DeploymentOptions& options) {
  return std::chrono::steady_clock::now() + options.link_timeout;
}

}  // namespace

Expected<> Pipeline::open(TransportSet& transports) {
  PARETO_ASSIGN(transport::Transport * to_source,
                transports.named(deployed_.transports[link_into(first_)]));
  PARETO_ASSIGN(transport::Transport * to_sink,
                transports.named(deployed_.transports[link_into(last()) + 1]));
  std::string downstream;
  Expected<> connected;
  {
    std::jthread sink;
    for (std::size_t i = end_; i-- > first_;) {
      PARETO_ASSIGN(OpenedStage opened, open_stage(i, downstream));
      downstream = std::move(opened.upstream);
      if (i < last()) continue;
      sink = std::jthread(
          [&, address = std::move(opened.sink)] { connected = connect_sink(*to_sink, address); });
    }
    PARETO_TRY(connect_source(*to_source, downstream));
  }
  return connected;
}

Expected<OpenedStage> Pipeline::open_stage(std::size_t stage, const std::string& downstream) {
  const DeploymentOptions& options = deployed_.options;
  control::StageRequest request;
  request.pipeline = id_;
  request.stage = number_of(stage);
  request.shard = deployed_.shards[stage]->loaded.handle;
  request.transport = deployed_.transports[link_into(stage)];
  request.downstream_transport = deployed_.transports[link_into(stage) + 1];
  request.downstream = downstream;
  request.queue = options.queue;
  // A request that the next device would refuse is refused before it is sent, and fails alone.
  request.max_frame_bytes = stage < last() ? options_to(stage + 1).limits.max_frame_bytes
                                           : transport::Limits{}.max_frame_bytes;
  request.payload_checksum = options.payload_checksum;
  request.weight = options.weight;
  request.priority = options.priority;
  if (stage < deployed_.codecs.size()) request.codec = deployed_.codecs[stage];
  if (stage < options.profiled_compute.size()) {
    request.profiled_compute = options.profiled_compute[stage];
  }
  name_link_peers(stage, request);
  PARETO_ASSIGN(OpenedStage opened,
                with_context(deployed_.devices[stage]->open_stage(request), "stage {}", stage));
  first_open_ = stage;
  return opened;
}

void Pipeline::name_link_peers(std::size_t stage, control::StageRequest& request) const {
  const DaemonClient& device = *deployed_.devices[stage];
  // A device that was reached without TLS knows nobody by a certificate.
  if (!device.info().identity) return;
  const std::string own = tls::to_string(device.config().credentials->identity());
  const auto identity_of = [&](std::size_t other) {
    const auto& identity = deployed_.devices[other]->info().identity;
    return identity ? tls::to_string(*identity) : std::string();
  };
  request.upstream_peer = stage == first_ ? own : identity_of(stage - 1);
  if (stage == last()) {
    request.sink_peer = own;
  } else {
    request.downstream_peer = identity_of(stage + 1);
  }
}

transport::LinkOptions Pipeline::options_to(std::size_t stage) const {
  transport::LinkOptions options = link_options_to(*deployed_.devices[stage]);
  options.payload_checksum = deployed_.options.payload_checksum;
  const std::uint64_t most = deployed_.devices[stage]->info().max_frame_bytes;
  if (most > 0) options.limits.max_frame_bytes = std::min(options.limits.max_frame_bytes, most);
  return options;
}

Expected<> Pipeline::connect_source(transport::Transport& transport, const std::string& address) {
  PARETO_ASSIGN(
      source_,
      with_context(control::connect_to_stage(
                       transport, address,
                       {.pipeline = id_, .role = control::Role::kUpstream, .in_order = true},
                       deadline_after(deployed_.options.link_timeout), options_to(first_),
                       control::Listening::kYes),
                   "the source's link to stage {} on {}", first_, device_of(first_)));
  return {};
}

Expected<> Pipeline::connect_sink(transport::Transport& transport, const std::string& address) {
  PARETO_ASSIGN(
      sink_,
      with_context(control::connect_to_stage(
                       transport, address, {id_, number_of(last()), control::Role::kSink},
                       deadline_after(deployed_.options.link_timeout),
                       link_options_to(*deployed_.devices[last()]), control::Listening::kYes),
                   "the sink's link to stage {} on {}", last(), device_of(last())));
  return {};
}

Expected<> Pipeline::prime() {
  const std::size_t stages = end_ - first_;
  std::vector<Expected<>> results(stages + 2);
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { results[stages] = prime_source(); });
    threads.emplace_back([&] { results[stages + 1] = prime_sink(); });
    for (std::size_t i = 0; i < stages; ++i) {
      threads.emplace_back([&, i] { results[i] = start_stage(first_ + i); });
    }
  }
  for (Expected<>& result : results) PARETO_TRY(std::move(result));
  return {};
}

Expected<> Pipeline::start_stage(std::size_t stage) {
  PARETO_ASSIGN(const Nanoseconds round_trip,
                with_context(deployed_.devices[stage]->start_stage(id_, number_of(stage),
                                                                   deployed_.options.link_timeout),
                             "stage {}", stage));
  // The last stage's next is the sink, which is measured from here.
  if (stage < last()) deployed_.round_trips[link_into(stage) + 1] = round_trip;
  return {};
}

Expected<> Pipeline::prime_source() {
  const std::uint64_t bytes = deployed_.shards[first_]->input_bytes;
  PARETO_ASSIGN(
      const auto figures,
      with_context(
          transport::prime(*source_, id_, bytes, PingWay::kThere, in_time(deployed_.options)),
          "priming the source's link to stage {} on {}", first_, device_of(first_)));
  source_->primed(figures, bytes);
  deployed_.round_trips[link_into(first_)] = figures.round_trip;
  return {};
}

Expected<> Pipeline::prime_sink() {
  PARETO_ASSIGN(
      const auto figures,
      with_context(transport::prime(*sink_, id_, deployed_.shards[last()]->output_bytes,
                                    PingWay::kBack, in_time(deployed_.options)),
                   "priming the sink's link to stage {} on {}", last(), device_of(last())));
  sink_->primed(figures, 0);
  deployed_.round_trips[link_into(last()) + 1] = figures.round_trip;
  return {};
}

void Pipeline::leave(bool abandoned) {
  if (source_) {
    wire::Message end;
    end.kind = wire::MessageKind::kEnd;
    end.pipeline = id_;
    // A courtesy: a stage that is gone or stuck is closed all the same.
    if (!abandoned) static_cast<void>(source_->send(end, deadline_after(kFarewell)));
    leave_link(*source_, abandoned);
  }
  if (sink_) leave_link(*sink_, abandoned);
}

void Pipeline::close_stages() {
  for (std::size_t i = first_open_; i < end_; ++i) {
    static_cast<void>(deployed_.devices[i]->close_stage(id_, number_of(i)));
  }
}

}  // namespace pareto::cluster
