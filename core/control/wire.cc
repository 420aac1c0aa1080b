#include "core/control/wire.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/printable.h"

namespace pareto::control {
namespace {

constexpr int kMostWords = 64;
// Over 30 years: sums of a few of these do not overflow.
constexpr std::int64_t kLongest = std::int64_t{1} << 60;

std::optional<double> figure(bool told, double value) {
  constexpr double kMost = 1e12;
  if (!told || !(std::abs(value) <= kMost)) return {};
  return value;
}

v1::Durations to_wire(const DurationCounts& durations) {
  v1::Durations wire;
  for (const std::uint64_t count : durations.counts) wire.add_counts(count);
  wire.set_sum_ns(durations.sum.count());
  return wire;
}

Expected<DurationCounts> from_wire(const v1::Durations& wire) {
  DurationCounts durations;
  if (static_cast<std::size_t>(wire.counts_size()) != durations.counts.size()) {
    return fail(ErrorCode::kCorrupt, "told counts of {} ranges, not {}", wire.counts_size(),
                durations.counts.size());
  }
  std::ranges::copy(wire.counts(), durations.counts.begin());
  PARETO_ASSIGN(durations.sum, duration_from(wire.sum_ns()));
  return durations;
}

v1::EngineTiming to_wire(const TriedEngine& tried) {
  v1::EngineTiming wire;
  wire.set_engine(tried.engine);
  wire.set_best_ns(tried.best.count());
  wire.set_failure(tried.failure);
  wire.set_relative_error(tried.relative_error);
  wire.set_precision(tried.precision);
  return wire;
}

Expected<TriedEngine> from_wire(const v1::EngineTiming& wire) {
  PARETO_ASSIGN(const Nanoseconds best, duration_from(wire.best_ns()));
  return TriedEngine{printable(wire.engine()), best, printable(wire.failure()),
                     wire.relative_error(), printable(wire.precision())};
}

template <typename Words>
std::vector<std::string> words_of(const Words& wire) {
  std::vector<std::string> words;
  for (int i = 0; i < std::min(wire.size(), kMostWords); ++i)
    words.push_back(printable(wire.Get(i)));
  return words;
}

/// Returns the processor times of a machine; nothing of one that tells what no machine has.
MachineLoad load_from(const v1::MachineState& wire) {
  constexpr std::uint32_t kMostProcessors = 1 << 16;
  if (wire.processors() == 0 || wire.processors() > kMostProcessors || wire.processors_ns() < 0 ||
      wire.processors_ns() > kLongest) {
    return {};
  }
  return {Nanoseconds(wire.processors_ns()), static_cast<int>(wire.processors()),
          figure(true, wire.load()).value_or(0)};
}

}  // namespace

v1::Use to_wire(const DeviceUse& use) {
  v1::Use wire;
  wire.set_exclusive(use.exclusive);
  wire.set_command(use.command);
  wire.set_user(use.user);
  wire.set_program(use.program);
  wire.set_lease(use.lease);
  wire.set_term(use.term);
  wire.set_waits(use.waits);
  return wire;
}

Expected<DeviceUse> from_wire(const v1::Use& wire) {
  for (const std::string* const name : {&wire.command(), &wire.user(), &wire.lease()}) {
    if (name->size() <= kLongestName && is_printable(*name)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "\"{}\" names a command, a user or a lease: at most {} bytes, and printable",
                printable(*name, kLongestName), kLongestName);
  }
  DeviceUse use;
  use.exclusive = wire.exclusive();
  use.command = wire.command();
  use.user = wire.user();
  use.program = wire.program();
  use.lease = wire.lease();
  use.term = wire.term();
  use.waits = wire.waits();
  return use;
}

v1::Holder to_wire(const Holder& holder) {
  v1::Holder wire;
  wire.set_who(holder.who);
  wire.set_command(holder.command);
  wire.set_exclusive(holder.exclusive);
  wire.set_since_ms(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(holder.since).count()));
  wire.set_lease(holder.lease);
  wire.set_term(holder.term);
  return wire;
}

Holder from_wire(const v1::Holder& wire) {
  constexpr std::uint64_t kMostMs = std::uint64_t{1} << 40;
  Holder holder;
  holder.who = printable(wire.who());
  holder.command = printable(wire.command(), kLongestName);
  holder.exclusive = wire.exclusive();
  holder.since = std::chrono::milliseconds(std::min(wire.since_ms(), kMostMs));
  holder.lease = printable(wire.lease(), kLongestName);
  holder.term = wire.term();
  return holder;
}

Expected<Nanoseconds> duration_from(std::int64_t nanoseconds) {
  if (nanoseconds >= 0 && nanoseconds <= kLongest) return Nanoseconds(nanoseconds);
  return fail(ErrorCode::kCorrupt, "told a duration of {} ns", nanoseconds);
}

v1::RunnerSettings to_wire(const ShardSettings& settings) {
  v1::RunnerSettings wire;
  wire.set_engine(settings.engine);
  wire.set_precision(settings.precision);
  wire.set_threads(static_cast<std::uint32_t>(settings.threads));
  wire.set_batch(settings.batch);
  wire.set_max_error(settings.max_error);
  wire.set_device(settings.device);
  wire.set_schedule(settings.schedule);
  wire.set_training(settings.training);
  wire.set_loss_manifest(settings.loss_manifest);
  wire.set_loss_archive(settings.loss_archive);
  return wire;
}

Expected<ShardSettings> from_wire(const v1::RunnerSettings& wire) {
  if (wire.threads() > plan::kMostThreads) {
    return fail(ErrorCode::kInvalidArgument, "{} threads, not 1 to {}", wire.threads(),
                plan::kMostThreads);
  }
  if (wire.schedule().size() > plan::kMostScheduleBytes) {
    return fail(ErrorCode::kInvalidArgument, "a schedule of {} bytes, more than {}",
                wire.schedule().size(), plan::kMostScheduleBytes);
  }
  ShardSettings settings;
  if (!wire.engine().empty()) settings.engine = printable(wire.engine());
  if (!wire.precision().empty()) settings.precision = printable(wire.precision());
  settings.threads = static_cast<int>(wire.threads());
  settings.batch = wire.batch();
  settings.max_error = wire.max_error();
  settings.device = printable(wire.device());
  if (!wire.schedule().empty()) {
    settings.schedule =
        plan::is_program(wire.schedule()) ? wire.schedule() : printable(wire.schedule());
  }
  settings.training = wire.training();
  settings.loss_manifest = wire.loss_manifest();
  settings.loss_archive = wire.loss_archive();
  return settings;
}

v1::LoadShardReply to_wire(const ShardReport& report) {
  v1::LoadShardReply wire;
  wire.set_shard(report.handle);
  wire.set_engine(report.engine);
  for (const TriedEngine& tried : report.timings) *wire.add_timings() = to_wire(tried);
  wire.set_memory_bytes(report.memory_bytes);
  wire.set_shards_bytes(report.shards_bytes);
  wire.set_was_loaded(report.was_loaded);
  wire.set_precision(report.precision);
  wire.set_precision_reason(report.precision_reason);
  wire.set_schedule(report.schedule);
  wire.set_schedule_reason(report.schedule_reason);
  return wire;
}

Expected<ShardReport> from_wire(const v1::LoadShardReply& wire) {
  if (wire.timings_size() > kMostWords) {
    return fail(ErrorCode::kCorrupt, "told times of {} engines, more than {}", wire.timings_size(),
                kMostWords);
  }
  ShardReport report{printable(wire.shard()), printable(wire.engine())};
  for (const v1::EngineTiming& timing : wire.timings()) {
    PARETO_ASSIGN(TriedEngine tried, from_wire(timing));
    report.timings.push_back(std::move(tried));
  }
  report.memory_bytes = wire.memory_bytes();
  report.shards_bytes = wire.shards_bytes();
  report.was_loaded = wire.was_loaded();
  report.precision = printable(wire.precision());
  report.precision_reason = printable(wire.precision_reason());
  report.schedule = printable(wire.schedule());
  report.schedule_reason = printable(wire.schedule_reason());
  return report;
}

v1::OpenStageRequest to_wire(const StageRequest& stage) {
  v1::OpenStageRequest wire;
  wire.set_pipeline(stage.pipeline);
  wire.set_stage(stage.stage);
  wire.set_shard(stage.shard);
  wire.set_transport(stage.transport);
  wire.set_downstream_transport(stage.downstream_transport);
  wire.set_downstream(stage.downstream);
  wire.set_queue(stage.queue);
  wire.set_max_frame_bytes(stage.max_frame_bytes);
  wire.set_codec(stage.codec);
  wire.set_no_checksum(!stage.payload_checksum);
  wire.set_weight(stage.weight);
  wire.set_priority(stage.priority);
  wire.set_upstream_peer(stage.upstream_peer);
  wire.set_sink_peer(stage.sink_peer);
  wire.set_downstream_peer(stage.downstream_peer);
  wire.set_profiled_compute_ns(static_cast<std::uint64_t>(stage.profiled_compute.count()));
  return wire;
}

StageRequest from_wire(const v1::OpenStageRequest& wire) {
  StageRequest stage;
  stage.pipeline = wire.pipeline();
  stage.stage = wire.stage();
  stage.shard = wire.shard();
  stage.transport = wire.transport();
  stage.downstream_transport = wire.downstream_transport();
  stage.downstream = wire.downstream();
  stage.queue = wire.queue();
  stage.max_frame_bytes = wire.max_frame_bytes();
  stage.codec = wire.codec();
  stage.payload_checksum = !wire.no_checksum();
  if (wire.weight() != 0) stage.weight = wire.weight();
  stage.priority = wire.priority();
  stage.upstream_peer = wire.upstream_peer();
  stage.sink_peer = wire.sink_peer();
  stage.downstream_peer = wire.downstream_peer();
  stage.profiled_compute = Nanoseconds(static_cast<Nanoseconds::rep>(
      std::min<std::uint64_t>(wire.profiled_compute_ns(), INT64_MAX)));
  return stage;
}

v1::StageStatus to_wire(const StageReport& report) {
  v1::StageStatus wire;
  wire.set_pipeline(report.pipeline);
  wire.set_stage(report.stage);
  wire.set_shard(report.shard);
  wire.set_state(std::string(to_string(report.state)));
  wire.set_failure(report.failure);
  wire.set_requests(report.requests);
  wire.set_failed_requests(report.failed_requests);
  wire.set_bytes_received(report.bytes_received);
  wire.set_bytes_sent(report.bytes_sent);
  wire.set_in_flight(report.in_flight);
  return wire;
}

Expected<StageReport> from_wire(const v1::StageStatus& wire) {
  PARETO_ASSIGN(const StageState state, parse_stage_state(wire.state()));
  return StageReport{
      wire.pipeline(),           wire.stage(),    printable(wire.shard()), state,
      printable(wire.failure()), wire.requests(), wire.failed_requests(),  wire.bytes_received(),
      wire.bytes_sent(),         wire.in_flight()};
}

v1::StageActivity to_wire(const StageActivity& activity) {
  v1::StageActivity wire;
  *wire.mutable_status() = to_wire(static_cast<const StageReport&>(activity));
  wire.set_model(activity.model);
  wire.set_begin(activity.begin);
  wire.set_end(activity.end);
  wire.set_engine(activity.engine);
  wire.set_answered(activity.answered);
  wire.set_dropped(activity.dropped);
  *wire.mutable_wait() = to_wire(activity.wait);
  *wire.mutable_compute() = to_wire(activity.compute);
  wire.set_receiving_ns(activity.receiving.count());
  wire.set_sending_ns(activity.sending.count());
  wire.set_round_trip_ns(activity.round_trip.count());
  wire.set_link_bytes_per_second(activity.link_bytes_per_second);
  wire.set_schedule(activity.schedule);
  for (const Nanoseconds worker : activity.workers) wire.add_worker_ns(worker.count());
  return wire;
}

Expected<StageActivity> from_wire(const v1::StageActivity& wire) {
  PARETO_ASSIGN(StageReport report, from_wire(wire.status()));
  StageActivity activity{std::move(report)};
  activity.model = printable(wire.model());
  activity.begin = wire.begin();
  activity.end = wire.end();
  activity.engine = printable(wire.engine());
  activity.answered = wire.answered();
  activity.dropped = wire.dropped();
  PARETO_ASSIGN(activity.wait, from_wire(wire.wait()));
  PARETO_ASSIGN(activity.compute, from_wire(wire.compute()));
  PARETO_ASSIGN(activity.receiving, duration_from(wire.receiving_ns()));
  PARETO_ASSIGN(activity.sending, duration_from(wire.sending_ns()));
  PARETO_ASSIGN(activity.round_trip, duration_from(wire.round_trip_ns()));
  activity.link_bytes_per_second = wire.link_bytes_per_second();
  activity.schedule = printable(wire.schedule());
  if (wire.worker_ns_size() > plan::kMostThreads) {
    return fail(ErrorCode::kCorrupt, "told times of {} workers, more than {}",
                wire.worker_ns_size(), plan::kMostThreads);
  }
  for (const std::int64_t worker : wire.worker_ns()) {
    PARETO_ASSIGN(activity.workers.emplace_back(), duration_from(worker));
  }
  return activity;
}

v1::MachineState to_wire(const MachineState& state) {
  v1::MachineState wire;
  wire.set_memory_bytes(state.memory_bytes);
  wire.set_memory_available_bytes(state.memory_available_bytes);
  if (state.temperature_celsius) wire.set_temperature_celsius(*state.temperature_celsius);
  if (state.frequency_hertz) wire.set_frequency_hertz(*state.frequency_hertz);
  if (state.frequency_max_hertz) wire.set_frequency_max_hertz(*state.frequency_max_hertz);
  for (const std::string& governor : state.governors) wire.add_governors(governor);
  for (const std::string& cause : state.throttled) wire.add_throttled(cause);
  wire.set_throttle_events(state.throttle_events);
  wire.set_netem_problem(state.netem_problem);
  wire.set_processors_ns(state.load.busy.count());
  wire.set_processors(static_cast<std::uint32_t>(state.load.processors));
  wire.set_load(state.load.load);
  wire.set_quota_periods(state.quota_periods);
  wire.set_quota_periods_throttled(state.throttled_periods);
  return wire;
}

MachineState from_wire(const v1::MachineState& wire) {
  return {.memory_bytes = wire.memory_bytes(),
          .memory_available_bytes = wire.memory_available_bytes(),
          .temperature_celsius = figure(wire.has_temperature_celsius(), wire.temperature_celsius()),
          .frequency_hertz = figure(wire.has_frequency_hertz(), wire.frequency_hertz()),
          .frequency_max_hertz = figure(wire.has_frequency_max_hertz(), wire.frequency_max_hertz()),
          .governors = words_of(wire.governors()),
          .throttled = words_of(wire.throttled()),
          .throttle_events = wire.throttle_events(),
          .netem_problem = printable(wire.netem_problem()),
          .load = load_from(wire),
          .quota_periods = wire.quota_periods(),
          .throttled_periods = wire.quota_periods_throttled()};
}

}  // namespace pareto::control
