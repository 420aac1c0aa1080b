#include "daemon/control/shard_calls.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/control/wire.h"
#include "core/plan/shard.h"
#include "core/plan/stage_settings.h"
#include "runtime/training/trainer.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

/// Returns " of plain fp32 8.12 ms, onednn fp32 3.2 ms, prepacked bf16 1.92 ms"; nothing if no
/// engine was timed.
std::string contest_of(const runtime::LoadReport& report) {
  std::vector<std::string> tried;
  for (const runtime::EngineTiming& timing : report.timings) {
    if (!timing.failure.empty()) continue;
    tried.push_back(fmt::format("{} {} {:.3g} ms", timing.engine,
                                runtime::to_string(timing.precision),
                                to_milliseconds(timing.best)));
  }
  return tried.empty() ? "" : " of " + join(tried);
}

/// Returns " (bf16 is off by 7.2 % …)", or nothing.
std::string reason_of(const runtime::LoadReport& report) {
  return report.precision_reason.empty() ? "" : " (" + report.precision_reason + ")";
}

/// Returns ", schedule mixed (…)", or nothing of a shard that is run in order.
std::string schedule_of(const runtime::LoadReport& report) {
  if (report.schedule == plan::kSequential && report.schedule_reason.empty()) return "";
  return ", schedule " + plan::schedule_title(report.schedule) +
         (report.schedule_reason.empty() ? "" : " (" + report.schedule_reason + ")");
}

/// Returns when the coordinator gives up; none if not within an hour: the daemon's own limits
/// count.
Deadline deadline_of(const grpc::ServerContext& context) {
  constexpr std::chrono::hours kLong{1};
  const auto now = std::chrono::system_clock::now();
  if (context.deadline() > now + kLong) return std::nullopt;
  return deadline_after(context.deadline() - now);
}

/// Returns the bytes that a shard takes in the store: equal weights count once.
std::uint64_t stored_bytes(const plan::Shard& shard) {
  std::uint64_t bytes = 0;
  std::set<Digest> seen;
  for (const plan::WeightRef& weight : shard.weights) {
    if (seen.insert(weight.digest).second) bytes += weight.size_bytes();
  }
  return bytes;
}

Expected<runtime::RunnerOptions> options_from(const ControlParts& parts,
                                              const v1::RunnerSettings& wire) {
  PARETO_ASSIGN(const control::ShardSettings settings, control::from_wire(wire));
  runtime::RunnerOptions options;
  options.engine = settings.engine;
  PARETO_ASSIGN(options.precision, runtime::parse_precision(settings.precision));
  if (settings.max_error > 0) options.max_error = settings.max_error;
  options.threads = settings.threads > 0 ? settings.threads : parts.default_threads;
  if (parts.limit_cores > 0) options.threads = std::min(options.threads, parts.limit_cores);
  options.device = settings.device.empty() ? parts.default_device : settings.device;
  options.batch = settings.batch;
  options.schedule = settings.schedule;
  if (settings.training.empty()) return options;
  auto training = std::make_shared<runtime::TrainingOptions>();
  PARETO_ASSIGN(training->settings, plan::training_from_json(settings.training));
  if (const std::string& codec = training->settings.gradient_codec; !codec.empty()) {
    PARETO_TRY(wire::find_codec(codec));
  }
  if (!settings.loss_manifest.empty()) {
    PARETO_ASSIGN(training->loss, with_context(plan::shard_from_manifest(settings.loss_manifest,
                                                                         settings.loss_archive),
                                               "the loss"));
  }
  options.training = std::move(training);
  return options;
}

/// Returns what the coordinator is told of a shard. `shards_bytes`: what all shards take.
control::ShardReport report_of(const ShardCache::Loaded& loaded, std::uint64_t shards_bytes) {
  const runtime::LoadReport& load = loaded.shard->report();
  control::ShardReport report{loaded.shard->handle(), load.engine};
  for (const runtime::EngineTiming& timing : load.timings) {
    report.timings.push_back({timing.engine, timing.best, timing.failure, timing.relative_error,
                              std::string(runtime::to_string(timing.precision))});
  }
  report.memory_bytes = loaded.shard->memory_bytes();
  report.shards_bytes = shards_bytes;
  report.was_loaded = loaded.was_loaded;
  report.precision = std::string(runtime::to_string(load.precision));
  report.precision_reason = load.precision_reason;
  report.schedule = plan::schedule_title(load.schedule);
  report.schedule_reason = load.schedule_reason;
  return report;
}

}  // namespace

Expected<> load_shard(const ControlParts& parts, SessionTable& sessions,
                      const grpc::ServerContext& context, const v1::LoadShardRequest& request,
                      v1::LoadShardReply& reply) {
  PARETO_ASSIGN(const plan::Shard shard,
                plan::shard_from_manifest(request.manifest(), request.archive()));
  PARETO_ASSIGN(const runtime::RunnerOptions options, options_from(parts, request.settings()));
  auto tried = [&] {
    const device::DeviceScheduler::Preparation loading(parts.stages.turns());
    return parts.shards.load(shard, options, deadline_of(context));
  }();
  if (!tried && tried.error().code == ErrorCode::kNotFound) {
    // If there is no room for all of its tensors, the later ones made the earlier ones go, and
    // always will.
    PARETO_TRY(with_context(parts.store.check_capacity(stored_bytes(shard)), "{}", name_of(shard)));
  }
  PARETO_ASSIGN(const ShardCache::Loaded loaded, std::move(tried));
  const LoadedShard& held = *loaded.shard;
  // Nobody would ever unload what nobody knows of.
  auto owned = sessions.hold_shard(request.session(), held.handle());
  if (!owned) {
    PARETO_TRY(parts.shards.unload(held.handle()));
    if (owned.error().code == ErrorCode::kExhausted) return owned;
    return fail(ErrorCode::kClosed, "the coordinator left while its shard was loaded");
  }
  if (context.IsCancelled()) {
    PARETO_TRY(sessions.release_shard(request.session(), held.handle()));
    PARETO_TRY(parts.shards.unload(held.handle()));
    return fail(ErrorCode::kClosed, "the coordinator left while its shard was loaded");
  }
  reply = control::to_wire(report_of(loaded, parts.shards.memory_bytes()));
  log_about({{"PARETO_MODEL", shard.model}, {"PARETO_SHARD", held.handle()}}, LogLevel::kInfo,
            fmt::format("loaded {} [{}, {}) as {}: engine {} {}{}{}{}, {} of weights", shard.model,
                        shard.begin, shard.end, held.handle(), held.report().engine,
                        runtime::to_string(held.report().precision), contest_of(held.report()),
                        reason_of(held.report()), schedule_of(held.report()),
                        format_bytes(shard.weight_bytes())));
  return {};
}

Expected<> unload_shard(const ControlParts& parts, SessionTable& sessions,
                        const v1::UnloadShardRequest& request, v1::UnloadShardReply& reply) {
  PARETO_TRY(sessions.release_shard(request.session(), request.shard()));
  PARETO_TRY(parts.shards.unload(request.shard()));
  reply.set_shards_bytes(parts.shards.memory_bytes());
  return {};
}

Expected<> send_training_state(const ControlParts& parts, const v1::TrainingStateRequest& request,
                               grpc::ServerWriter<v1::StateChunk>& writer) {
  PARETO_ASSIGN(const auto shard, parts.shards.find(request.shard()));
  std::vector<plan::StateTensor> state;
  PARETO_TRY(shard->train([&](runtime::Trainer& trainer) -> Expected<> {
    PARETO_ASSIGN(state, trainer.state());
    return {};
  }));
  for (const plan::StateTensor& entry : state) {
    v1::StateChunk chunk;
    chunk.set_name(entry.name);
    chunk.set_dtype(static_cast<std::uint32_t>(entry.tensor.dtype()));
    for (const std::int64_t size : entry.tensor.shape()) chunk.add_shape(size);
    chunk.set_size_bytes(entry.tensor.size_bytes());
    std::span<const std::byte> left = entry.tensor.bytes();
    do {
      const auto part = left.first(std::min(left.size(), kMaxChunkBytes));
      left = left.subspan(part.size());
      chunk.set_data(part.data(), part.size());
      if (!writer.Write(chunk)) return fail(ErrorCode::kClosed, "the coordinator left");
      chunk.Clear();
    } while (!left.empty());
  }
  return {};
}

Expected<> profile_shard(const ControlParts& parts, const v1::ProfileRequest& request,
                         v1::ProfileReply& reply) {
  PARETO_ASSIGN(const auto shard, parts.shards.find(request.shard()));
  const auto count = [](std::uint32_t asked) {
    return static_cast<int>(std::min<std::uint32_t>(asked, 1 << 20));
  };
  const device::DeviceScheduler::Preparation profiling(parts.stages.turns());
  const std::vector<std::int64_t> cuts(request.cuts().begin(), request.cuts().end());
  PARETO_ASSIGN(const LoadedShard::Profile profile,
                shard->profile(request.batch(), count(request.repeats()),
                               count(request.operator_repeats()), cuts));
  for (const runtime::SegmentTime& time : profile.parts.segments) {
    auto& wire = *reply.add_segments();
    wire.set_begin(time.begin);
    wire.set_end(time.end);
    wire.set_median_ns(time.median.count());
  }
  for (const runtime::OperatorTime& time : profile.parts.operators) {
    auto& wire = *reply.add_operators();
    wire.set_position(time.position);
    wire.set_kind(time.kind);
    wire.set_scope(time.scope);
    wire.set_median_ns(time.median.count());
  }
  for (const Nanoseconds time : profile.whole) reply.add_whole_ns(time.count());
  return {};
}

}  // namespace pareto::daemon
