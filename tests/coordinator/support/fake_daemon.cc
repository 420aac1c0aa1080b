#include "tests/coordinator/support/fake_daemon.h"

#include <utility>

#include "core/control/hello.h"

namespace pareto::test {
FakeDaemon::FakeDaemon(std::string name, transport::Transport& transport)
    : config_{std::move(name), "test:1"}, transport_(transport) {
  listener_ = transport_.listen("").value();
  info_.memory_bytes = std::uint64_t{1} << 30;
  info_.device = "cpu";
  info_.data[std::string(transport_.name())] = listener_->address();
  accepting_ = std::jthread([this] { accept_links(); });
}

FakeDaemon::~FakeDaemon() {
  die();
  accepting_.join();
  stages_.clear();
}

Expected<> FakeDaemon::alive() const {
  if (dead_) return fail(ErrorCode::kUnavailable, "{}: nobody answers", config_.name);
  if (!stopped_) return {};
  if (abandoned_) return fail(ErrorCode::kUnavailable, "{}: given up", config_.name);
  ++calls_waited_;
  return fail(ErrorCode::kTimeout, "{}: no answer", config_.name);
}

void FakeDaemon::die() {
  dead_ = true;
  listener_->close();
  const std::lock_guard lock(mutex_);
  for (auto& [key, stage] : stages_) stage->close();
}

void FakeDaemon::stop() {
  script_.hanging = true;
  stopped_ = true;
}

std::uint64_t FakeDaemon::requests_swallowed() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t swallowed = 0;
  for (const auto& [key, stage] : stages_) swallowed += stage->swallowed();
  return swallowed;
}

void FakeDaemon::fail_loads(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  load_error_ = std::move(error);
}

void FakeDaemon::fail_start(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  start_error_ = std::move(error);
}

void FakeDaemon::fail_changes(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  change_error_ = std::move(error);
}

void FakeDaemon::forget_tensors() {
  const std::lock_guard lock(mutex_);
  store_.clear();
}

std::size_t FakeDaemon::open_stages() const {
  const std::lock_guard lock(mutex_);
  return stages_.size();
}

int FakeDaemon::stages_opened() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(codecs_.size());
}

std::size_t FakeDaemon::loaded_shards() const {
  const std::lock_guard lock(mutex_);
  return shards_.size();
}

Expected<std::vector<Digest>> FakeDaemon::missing_tensors(const std::vector<Digest>& digests) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  std::vector<Digest> missing;
  for (const Digest& digest : digests) {
    if (!store_.contains(digest)) missing.push_back(digest);
  }
  return missing;
}

Expected<> FakeDaemon::put_tensors(const std::vector<cluster::NamedTensor>& tensors) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  for (const cluster::NamedTensor& entry : tensors) {
    if (sha256(entry.tensor.bytes()) != entry.digest) {
      return fail(ErrorCode::kCorrupt, "{}: digest mismatch", config_.name);
    }
    store_.insert(entry.digest);
    sent_bytes_ += entry.tensor.size_bytes();
  }
  return {};
}

Expected<control::ShardReport> FakeDaemon::load_shard(const plan::Shard& shard,
                                                      const control::ShardSettings& settings) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  if (load_error_) return tl::unexpected(*load_error_);
  for (const plan::WeightRef& weight : shard.weights) {
    if (!store_.contains(weight.digest)) {
      return fail(ErrorCode::kNotFound, "{}: no tensor {}", config_.name, weight.digest.hex());
    }
  }
  const std::uint64_t held = shards_bytes();
  if (info_.memory_limit_bytes > 0 && held + shard.weight_bytes() > info_.memory_limit_bytes) {
    return fail(ErrorCode::kExhausted, "{}: over the memory limit", config_.name);
  }
  ++loads_;
  load_settings_.push_back(settings);
  control::ShardReport loaded;
  loaded.handle = fmt::format("shard-{}", loads_.load());
  loaded.engine = "fake";
  loaded.memory_bytes = shard.weight_bytes();
  shards_[loaded.handle] = {shard.begin, shard.end - shard.begin, shard.weight_bytes()};
  loaded.shards_bytes = shards_bytes();
  return loaded;
}

std::vector<control::ShardSettings> FakeDaemon::load_settings() const {
  const std::lock_guard lock(mutex_);
  return load_settings_;
}

std::uint64_t FakeDaemon::shards_bytes() const {
  std::uint64_t held = 0;
  for (const auto& [handle, shard] : shards_) held += shard.bytes;
  return held;
}

Expected<std::uint64_t> FakeDaemon::unload_shard(const std::string& handle) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  if (shards_.erase(handle) == 0) return fail(ErrorCode::kNotFound, "no shard {}", handle);
  return shards_bytes();
}

Expected<cluster::OpenedStage> FakeDaemon::open_stage(const control::StageRequest& request) {
  PARETO_TRY(alive());
  auto stage = std::make_shared<FakeStage>(request, config_.name, script_, [this] { die(); });
  {
    const std::lock_guard lock(mutex_);
    const auto shard = shards_.find(request.shard);
    if (shard == shards_.end()) return fail(ErrorCode::kNotFound, "no shard {}", request.shard);
    stage->set_operators(shard->second.operators);
    codecs_.push_back(request.codec);
    transports_.push_back(request.transport + ">" + request.downstream_transport);
  }
  PARETO_TRY(stage->connect_next(transport_));
  const std::lock_guard lock(mutex_);
  stages_[{request.pipeline, request.stage}] = std::move(stage);
  return cluster::OpenedStage{listener_->address(),
                              request.downstream.empty() ? listener_->address() : ""};
}

Expected<Nanoseconds> FakeDaemon::start_stage(std::uint64_t pipeline, std::uint32_t index,
                                              std::chrono::milliseconds timeout) {
  PARETO_TRY(alive());
  std::unique_lock lock(mutex_);
  if (start_error_) return tl::unexpected(*start_error_);
  const FakeStage& stage = *stages_.at({pipeline, index});
  if (!changed_.wait_for(lock, timeout, [&] { return stage.is_connected(); })) {
    return fail(ErrorCode::kTimeout, "nobody connected");
  }
  return Nanoseconds(1000);
}

Expected<control::StageReport> FakeDaemon::change_shard(std::uint64_t pipeline, std::uint32_t index,
                                                        const std::string& handle) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  if (change_error_) return tl::unexpected(*change_error_);
  const auto shard = shards_.find(handle);
  const auto stage = stages_.find({pipeline, index});
  if (shard == shards_.end() || stage == stages_.end()) {
    return fail(ErrorCode::kNotFound, "no such shard, or no such stage");
  }
  stage->second->set_operators(shard->second.operators);
  return control::StageReport{pipeline, index, "", control::StageState::kRunning};
}

Expected<control::StageReport> FakeDaemon::close_stage(std::uint64_t pipeline,
                                                       std::uint32_t index) {
  PARETO_TRY(alive());
  std::shared_ptr<FakeStage> stage;
  {
    const std::lock_guard lock(mutex_);
    const auto found = stages_.find({pipeline, index});
    if (found == stages_.end()) return fail(ErrorCode::kNotFound, "no such stage");
    stage = std::move(found->second);
    stages_.erase(found);
    stage->close();
  }
  return control::StageReport{pipeline, index, "", control::StageState::kClosed};
}

void FakeDaemon::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

Expected<cluster::DeviceStatus> FakeDaemon::status(std::chrono::milliseconds timeout) {
  PARETO_TRY(alive());
  std::unique_lock lock(mutex_);
  if (holding_status_) {
    changed_.wait_for(lock, timeout, [this] { return abandoned_.load(); });
    return fail(ErrorCode::kTimeout, "{}: no answer", config_.name);
  }
  cluster::DeviceStatus status;
  for (const auto& [key, stage] : stages_) {
    const auto state =
        stage_failure_.empty() ? control::StageState::kRunning : control::StageState::kFailed;
    status.stages.push_back({.pipeline = key.first,
                             .stage = key.second,
                             .state = state,
                             .failure = stage_failure_,
                             .requests = stage->requests(),
                             .in_flight = stage->swallowed()});
  }
  return status;
}

void FakeDaemon::set_observation(cluster::Observation observation) {
  const std::lock_guard lock(mutex_);
  observation_ = std::move(observation);
}

Expected<cluster::Observation> FakeDaemon::observe(std::chrono::milliseconds) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  return observation_;
}

std::vector<std::string> FakeDaemon::codecs() const {
  const std::lock_guard lock(mutex_);
  return codecs_;
}

std::vector<std::string> FakeDaemon::transports() const {
  const std::lock_guard lock(mutex_);
  return transports_;
}

Expected<std::vector<wire::CodecCost>> FakeDaemon::measure_codecs(const std::string& handle) {
  PARETO_TRY(alive());
  return handle.empty() ? standard_costs_ : shard_costs_;
}

Expected<cluster::ShardTimes> FakeDaemon::profile(const std::string& handle, std::int64_t batch,
                                                  int repeats, int operator_repeats,
                                                  std::chrono::milliseconds) {
  PARETO_TRY(alive());
  if (refusing_examples_) return fail(ErrorCode::kInvalidArgument, "lengths have to be above 0");
  const std::lock_guard lock(mutex_);
  const auto held = shards_.find(handle);
  if (held == shards_.end()) return fail(ErrorCode::kNotFound, "no shard {}", handle);
  const std::int64_t operators = held->second.operators;
  cluster::ShardTimes times;
  const Nanoseconds of_operator = script_.operator_time.value_or(Nanoseconds(1'000'000));
  times.whole.assign(static_cast<std::size_t>(repeats),
                     batch * operators * of_operator + script_.shard_time);
  for (std::int64_t i = 0; operator_repeats > 0 && i < operators; ++i) {
    times.operators[held->second.begin + i] = batch * of_operator;
  }
  return times;
}

/// Half the round trip, and its bytes by the rate.
Expected<transport::ProbeResult> FakeDaemon::probe_link(const std::string& transport,
                                                        const std::string&,
                                                        const transport::ProbeOptions& options,
                                                        std::chrono::milliseconds) {
  PARETO_TRY(alive());
  ++rates_measured_;
  const double rate = rate_over(transport);
  transport::ProbeResult result;
  result.round_trip = round_trip_;
  for (const std::uint64_t size : options.sizes) {
    const Nanoseconds moving(static_cast<std::int64_t>(static_cast<double>(size) / rate * 1e9));
    result.points.push_back({size, round_trip_ / 2 + moving, moving, {}, {}});
  }
  return result;
}

double FakeDaemon::rate_over(const std::string& transport) const {
  const auto own = rates_.find(transport);
  return own == rates_.end() ? rate_ : own->second;
}

Expected<cluster::LinkSpeed> FakeDaemon::measure_link(const std::string& transport,
                                                      const std::string&) {
  PARETO_TRY(alive());
  ++rates_measured_;
  return cluster::LinkSpeed{rate_over(transport), round_trip_};
}

Expected<cluster::EmulationLease> FakeDaemon::emulate(const cluster::EmulationRequest& request) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  if (emulated_) return fail(ErrorCode::kUnavailable, "another coordinator");
  emulated_ = request;
  return cluster::EmulationLease{++leases_, std::chrono::milliseconds(30)};
}

Expected<> FakeDaemon::renew_emulation(std::uint64_t lease) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  if (!emulated_ || lease != leases_) return fail(ErrorCode::kNotFound, "the lease ran out");
  ++renewals_;
  renewed_.notify_all();
  return {};
}

Expected<> FakeDaemon::end_emulation(std::uint64_t lease) {
  PARETO_TRY(alive());
  const std::lock_guard lock(mutex_);
  if (lease == leases_) emulated_.reset();
  return {};
}

std::optional<cluster::EmulationRequest> FakeDaemon::emulated() const {
  const std::lock_guard lock(mutex_);
  return emulated_;
}

void FakeDaemon::forget_emulation() {
  const std::lock_guard lock(mutex_);
  emulated_.reset();
}

int FakeDaemon::renewals() const {
  const std::lock_guard lock(mutex_);
  return renewals_;
}

bool FakeDaemon::wait_for_renewals(int count) const {
  std::unique_lock lock(mutex_);
  return renewed_.wait_for(lock, std::chrono::minutes(1), [&] { return renewals_ >= count; });
}

Expected<cluster::ClockOffset> FakeDaemon::clock_offset(int) {
  PARETO_TRY(alive());
  return clock_;
}

void FakeDaemon::accept_links() {
  while (auto link = listener_->accept()) {
    const auto said = (*link)->receive(deadline_after(kHandshake));
    if (!said) continue;
    const auto hello = control::parse_hello(said->message);
    if (!hello) continue;
    const wire::Message ready = control::ready_message(hello->pipeline);
    if (hello->role == control::Role::kProbe) {
      if (!(*link)->send(ready, deadline_after(kHandshake))) continue;
      probes_.emplace_back([probed = *std::move(link)] { answer_pings(*probed); });
      continue;
    }
    const std::lock_guard lock(mutex_);
    const auto found = stages_.find({hello->pipeline, hello->stage});
    if (found == stages_.end()) continue;
    if (!(*link)->send(ready, deadline_after(kHandshake))) continue;
    found->second->take(*std::move(link), hello->role == control::Role::kSink);
    changed_.notify_all();
  }
}

}  // namespace pareto::test
