#include "daemon/stage/stage_host.h"

#include <algorithm>

#include "core/base/process_memory.h"
#include "core/base/text.h"
#include "core/control/greeting.h"
#include "core/tls/credentials.h"
#include "daemon/stage/link_probe.h"
#include "daemon/stage/stage.h"
#include "daemon/stage/stage_request_check.h"
#include "daemon/stage/training_stage.h"

namespace pareto::daemon {
namespace {

// A coordinator that died leaves stages behind: those that never ran, and those that ended.
constexpr std::chrono::minutes kForgottenAfter{10};

// Time for a stage that is closed to finish and to announce its end.
constexpr std::chrono::milliseconds kFarewell{500};

// Time for a closed stage to stop computing; afterwards nobody waits for it any more.
constexpr std::chrono::seconds kStopping{2};

/// Returns the requested host with the port that was given. Peers elsewhere cannot use the
/// "0.0.0.0" that this side resolved.
std::string public_address(const std::string& asked, const std::string& actual) {
  const std::size_t asked_port = asked.rfind(':');
  const std::size_t actual_port = actual.rfind(':');
  if (asked_port == std::string::npos || actual_port == std::string::npos) return actual;
  return asked.substr(0, asked_port) + actual.substr(actual_port);
}

std::shared_ptr<HostedStage> make_stage(StageParts parts) {
  if (parts.shard->trains()) return std::make_shared<TrainingStage>(std::move(parts));
  return std::make_shared<Stage>(std::move(parts));
}

/// Far more bytes than a hello has.
constexpr std::uint64_t kMaxHelloBytes = 64 << 10;

}  // namespace

Expected<std::unique_ptr<StageHost>> StageHost::listen(
    StageHostOptions options, std::vector<std::shared_ptr<transport::Transport>> transports,
    const std::vector<DataAddress>& addresses) {
  std::unique_ptr<StageHost> host(new StageHost(std::move(options)));
  PARETO_ASSIGN(host->turns_, device::DeviceScheduler::make(host->options_.rules));
  transport::LinkOptions of_strangers{.limits = host->options_.limits,
                                      .credentials = host->options_.credentials};
  of_strangers.limits.max_stranger_frame_bytes = kMaxHelloBytes;
  for (const DataAddress& wanted : addresses) {
    const auto found = std::ranges::find(transports, wanted.transport,
                                         [](const auto& t) { return std::string(t->name()); });
    if (found == transports.end()) {
      return fail(ErrorCode::kNotFound, "no transport \"{}\"", wanted.transport);
    }
    PARETO_ASSIGN(auto listener,
                  with_context((*found)->listen(wanted.address, of_strangers), "data address {}={}",
                               wanted.transport, wanted.address));
    const std::string address = (*found)->reach() == transport::Reach::kNetwork
                                    ? public_address(wanted.address, listener->address())
                                    : listener->address();
    auto greeter = [raw = host.get()](const control::Hello& hello,
                                      std::unique_ptr<transport::Link>& link, TimePoint deadline) {
      return raw->greet(hello, link, deadline);
    };
    auto acceptor =
        std::make_unique<LinkAcceptor>(std::move(listener), std::move(greeter),
                                       host->options_.hello_timeout, host->options_.credentials);
    host->listening_.push_back({*found, address, std::move(acceptor)});
  }
  host->transports_ = std::move(transports);
  return host;
}

StageHost::~StageHost() {
  // All stages end before the destructor of one waits for it.
  for (auto& [key, stage] : take_all()) stage->close_by(std::chrono::steady_clock::now());
}

StageHost::Stages StageHost::take_all() {
  Stages stages;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    stages.swap(stages_);
    opened_.notify_all();
  }
  probes_.close();
  for (const Listening& one : listening_) one.acceptor->close();
  return stages;
}

std::vector<DataAddress> StageHost::addresses() const {
  std::vector<DataAddress> list;
  for (const Listening& one : listening_)
    list.push_back({std::string(one.transport->name()), one.address});
  return list;
}

Expected<const StageHost::Listening*> StageHost::listening_on(const std::string& transport) const {
  std::vector<std::string> names;
  for (const Listening& one : listening_) {
    if (one.transport->name() == transport) return &one;
    names.emplace_back(one.transport->name());
  }
  return fail(ErrorCode::kNotFound, "this daemon does not serve transport \"{}\", only {}",
              transport, join(names));
}

Expected<transport::Transport*> StageHost::transport_named(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& transport : transports_) {
    if (transport->name() == name) return transport.get();
    names.emplace_back(transport->name());
  }
  return fail(ErrorCode::kNotFound, "this daemon has no transport \"{}\", only {}", name,
              join(names));
}

Expected<std::shared_ptr<HostedStage>> StageHost::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = stages_.find(key);
  if (found == stages_.end()) {
    return fail(ErrorCode::kNotFound, "no stage {} of pipeline {:016x}", key.second, key.first);
  }
  return found->second;
}

Expected<> StageHost::check_can_tell(const transport::Transport& transport) const {
  if (options_.credentials || transport.reach() != transport::Reach::kNetwork) return {};
  return fail(ErrorCode::kPermission,
              "the next stage is on a device with a certificate, and {} has no credentials to "
              "check it: paretod enroll gives it some",
              options_.device);
}

Expected<std::unique_ptr<transport::Link>> StageHost::connect_downstream(
    transport::Transport& transport, const OpenStage& stage) const {
  const control::StageRequest& asked = stage.asked;
  const Deadline deadline = deadline_after(options_.connect_timeout);
  transport::LinkOptions options{.limits = options_.limits,
                                 .codec = stage.codec,
                                 .payload_checksum = asked.payload_checksum,
                                 .credentials = options_.credentials};
  if (asked.max_frame_bytes > 0) {
    std::uint64_t& most = options.limits.max_frame_bytes;
    most = std::min(most, asked.max_frame_bytes);
  }
  if (!asked.downstream_peer.empty()) {
    PARETO_ASSIGN(options.expected_peer,
                  with_context(tls::parse_identity(asked.downstream_peer), "the next stage"));
    PARETO_TRY(check_can_tell(transport));
  }
  return with_context(control::connect_to_stage(transport, asked.downstream,
                                                {.pipeline = asked.pipeline,
                                                 .stage = asked.stage + 1,
                                                 .role = control::Role::kUpstream,
                                                 .in_order = true},
                                                deadline, options),
                      "connecting to the next stage at {} {}", transport.name(), asked.downstream);
}

Expected<> StageHost::check_room(const Key& key) const {
  if (closing_) return fail(ErrorCode::kClosed, "the daemon is ending");
  if (stages_.contains(key)) {
    return fail(ErrorCode::kInvalidArgument, "stage {} of pipeline {:016x} is open already",
                key.second, key.first);
  }
  if (stages_.size() >= kMaxStages) {
    return fail(ErrorCode::kExhausted, "{} stages are open, the limit; close some", stages_.size());
  }
  return {};
}

std::vector<std::shared_ptr<HostedStage>> StageHost::take_forgotten() {
  std::vector<std::shared_ptr<HostedStage>> forgotten;
  const TimePoint now = std::chrono::steady_clock::now();
  for (auto it = stages_.begin(); it != stages_.end();) {
    const auto idle_since = it->second->idle_since();
    if (idle_since && now - *idle_since > kForgottenAfter) {
      forgotten.push_back(std::move(it->second));
      it = stages_.erase(it);
    } else {
      ++it;
    }
  }
  return forgotten;
}

Expected<StageAddresses> StageHost::open(OpenStage opening) {
  const control::StageRequest& asked = opening.asked;
  PARETO_TRY(check_request(asked));
  PARETO_ASSIGN(const Listening* const source, listening_on(asked.transport));
  StageAddresses addresses{source->address, ""};
  const bool sink_connects = asked.downstream.empty();
  if (sink_connects) {
    PARETO_ASSIGN(const Listening* const sink, listening_on(asked.downstream_transport));
    addresses.sink = sink->address;
  }
  const Key key{asked.pipeline, asked.stage};
  std::vector<std::shared_ptr<HostedStage>> forgotten;
  const auto has_room = [&] {
    const std::lock_guard lock(mutex_);
    forgotten = take_forgotten();
    return check_room(key);
  }();
  for (auto& stage : forgotten) retire(std::move(stage));
  PARETO_TRY(has_room);
  StageParts parts;
  parts.context = {asked.pipeline,
                   asked.stage,
                   options_.device,
                   nullptr,
                   {asked.upstream_peer, asked.sink_peer}};
  parts.shard = std::move(opening.shard);
  parts.queue = asked.queue;
  if (!sink_connects) {
    PARETO_ASSIGN(transport::Transport * next, transport_named(asked.downstream_transport));
    PARETO_ASSIGN(parts.downstream, connect_downstream(*next, opening));
  }
  parts.payload_checksum = asked.payload_checksum;
  parts.context.meter = meters_.open(asked.stage);
  parts.context.meter->profiled_compute = asked.profiled_compute.count();
  parts.turns = {turns_->open(asked.pipeline, asked.weight), asked.priority};
  const std::shared_ptr<HostedStage> stage = make_stage(std::move(parts));
  {
    const std::lock_guard lock(mutex_);
    PARETO_TRY(check_room(key));
    stages_[key] = stage;
    opened_.notify_all();
  }
  // Credentials may have been refreshed while it connected.
  stage->end_if_refused(options_.credentials.get());
  return addresses;
}

Expected<> StageHost::greet(const control::Hello& hello, std::unique_ptr<transport::Link>& link,
                            TimePoint deadline) {
  std::shared_ptr<HostedStage> stage;
  {
    std::unique_lock lock(mutex_);
    const Key key{hello.pipeline, hello.stage};
    opened_.wait_until(lock, deadline, [&] { return closing_ || stages_.contains(key); });
    if (closing_) return fail(ErrorCode::kClosed, "the daemon is ending");
    const auto found = stages_.find(key);
    if (found == stages_.end()) {
      return fail(ErrorCode::kNotFound, "stage {} of pipeline {:016x} is not open on {}",
                  hello.stage, hello.pipeline, options_.device);
    }
    stage = found->second;
  }
  PARETO_TRY(stage->check_peer(hello.role, link->identity()));
  // It may have waited for the stage.
  PARETO_TRY(check_holds(options_.credentials.get(), link->identity()));
  link->trust(options_.limits.max_frame_bytes);
  PARETO_ASSIGN(link, control::answering_link(link, hello));
  PARETO_TRY(stage->attach(hello, link, deadline));
  // Credentials may have been refreshed before end_refused() could find it.
  stage->end_if_refused(options_.credentials.get());
  return {};
}

Expected<Nanoseconds> StageHost::start(std::uint64_t pipeline, std::uint32_t stage,
                                       TimePoint deadline) {
  PARETO_ASSIGN(const auto found, find({pipeline, stage}));
  return found->start(deadline);
}

Expected<control::StageReport> StageHost::change_shard(std::uint64_t pipeline, std::uint32_t stage,
                                                       std::shared_ptr<LoadedShard> shard) {
  PARETO_ASSIGN(const auto found, find({pipeline, stage}));
  return found->change_shard(std::move(shard));
}

Expected<control::StageReport> StageHost::close(std::uint64_t pipeline, std::uint32_t stage) {
  std::shared_ptr<HostedStage> found;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = stages_.find({pipeline, stage});
    if (entry == stages_.end()) {
      return fail(ErrorCode::kNotFound, "no stage {} of pipeline {:016x}", stage, pipeline);
    }
    found = std::move(entry->second);
    stages_.erase(entry);
  }
  // The next stage gets an orderly end instead of a broken link.
  found->drain();
  found->wait_ended(*deadline_after(kFarewell));
  retire(found);
  const control::StageReport report = found->status();
  found.reset();
  // What its threads and links freed would stay in the allocator until a shard is loaded.
  return_freed_memory();
  return report;
}

void StageHost::retire(std::shared_ptr<HostedStage> stage) {
  const bool ended = stage->close_by(*deadline_after(kStopping));
  if (!ended) {
    stage->let_go();
    const control::StageReport status = stage->status();
    log_about(log_fields(status.pipeline, status.stage), LogLevel::kWarn,
              fmt::format("pipeline {:016x} stage {} was closed, and still computes",
                          status.pipeline, status.stage));
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(computing_still_, [](const auto& other) {
    return other->close_by(std::chrono::steady_clock::now());
  });
  if (!ended) computing_still_.push_back(std::move(stage));
}

std::vector<control::StageReport> StageHost::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<control::StageReport> list;
  for (const auto& [key, stage] : stages_) list.push_back(stage->status());
  return list;
}

std::vector<WatchedStage> StageHost::watch() const {
  const std::lock_guard lock(mutex_);
  std::vector<WatchedStage> list;
  for (const auto& [key, stage] : stages_) list.push_back(stage->watch());
  return list;
}

template <typename Measure>
auto StageHost::on_probe(const std::string& transport, const std::string& address,
                         TimePoint deadline, Measure measure)
    -> decltype(measure(std::declval<transport::Link&>())) {
  const auto through = [&]() -> decltype(measure(std::declval<transport::Link&>())) {
    PARETO_ASSIGN(transport::Transport * by, transport_named(transport));
    const TimePoint patience = *deadline_after(options_.connect_timeout);
    PARETO_ASSIGN(const auto link,
                  by->connect(address, std::min(deadline, patience),
                              {.limits = options_.limits, .credentials = options_.credentials}));
    const ProbeLinks::Use use(probes_, *link);
    PARETO_TRY(check_holds(options_.credentials.get(), link->identity()));
    PARETO_TRY(control::introduce(*link, {0, 0, control::Role::kProbe}, deadline));
    return measure(*link);
  };
  return with_context(through(), "measuring the link to {} {}", transport, address);
}

Expected<LinkSpeed> StageHost::measure_link(const std::string& transport,
                                            const std::string& address, TimePoint deadline) {
  return on_probe(transport, address, deadline,
                  [&](transport::Link& link) { return daemon::measure_link(link, deadline); });
}

Expected<transport::ProbeResult> StageHost::probe_link(const std::string& transport,
                                                       const std::string& address,
                                                       const transport::ProbeOptions& options,
                                                       TimePoint deadline) {
  return on_probe(transport, address, deadline, [&](transport::Link& link) {
    return transport::probe_link(link, options, deadline);
  });
}

void StageHost::end_refused() {
  const tls::Credentials* const own = options_.credentials.get();
  std::vector<std::shared_ptr<HostedStage>> stages;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, stage] : stages_) stages.push_back(stage);
  }
  probes_.close_refused(own);
  for (const auto& stage : stages) stage->end_if_refused(own);
  for (const Listening& one : listening_) one.acceptor->close_refused();
}

std::size_t StageHost::drain(TimePoint deadline) {
  const Stages stages = take_all();
  // Later stages on this device must take what an earlier one still sends. They end when its end
  // reaches them.
  std::optional<std::uint64_t> draining;
  for (const auto& [key, stage] : stages) {
    if (draining == key.first) continue;
    if (!stage->idle_since()) draining = key.first;
    stage->drain();
  }
  std::size_t cut_off = 0;
  for (const auto& [key, stage] : stages) {
    if (stage->wait_ended(deadline)) continue;
    ++cut_off;
    log_about(log_fields(key.first, key.second), LogLevel::kWarn,
              fmt::format("pipeline {:016x} stage {}: requests in flight are given up", key.first,
                          key.second));
  }
  // A stage that still computes keeps its thread, and the process ends without it.
  for (const auto& [key, stage] : stages) retire(stage);
  return cut_off;
}

}  // namespace pareto::daemon
