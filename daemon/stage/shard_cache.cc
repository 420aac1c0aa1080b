#include "daemon/stage/shard_cache.h"

#include <algorithm>
#include <utility>

#include "core/base/digest.h"
#include "core/base/process_memory.h"
#include "core/base/text.h"
#include "core/plan/plan.h"
#include "core/plan/stage_settings.h"
#include "runtime/training/trainer.h"

namespace pareto::daemon {
namespace {

/// One part in `kShareLeft` of all memory stays free: a machine without any ends whatever took most
/// of it.
constexpr std::uint64_t kShareLeft = 16;

/// One run of a shard may take one part in `kRequestShare` of all memory if nobody says otherwise.
constexpr std::uint64_t kRequestShare = 2;

/// The most shards of which something is remembered when they are gone.
constexpr std::size_t kMostKnown = 10'000;

/// Copies of the weights that training takes: gradients, and the optimiser's state of up to two.
constexpr std::uint64_t kTrainingCopies = 3;

std::uint64_t difference(std::uint64_t more, std::uint64_t less) {
  return more - std::min(more, less);
}

/// Returns what loading a shard took between two readings, without packed weights, which it shares.
/// Memory of an earlier shard that is used again was resident before.
std::uint64_t taken_bytes(const MemoryReading& before, const MemoryReading& after) {
  const bool known = before.allocated_bytes > 0 && after.allocated_bytes > 0;
  const auto unshared = [known](const MemoryReading& reading) {
    return difference(known ? reading.allocated_bytes : reading.resident_bytes,
                      reading.packed_bytes);
  };
  return difference(unshared(after), unshared(before));
}

/// A program is known by its digest: keys are kept of many shards.
std::string key_of(const plan::Shard& shard, const runtime::RunnerOptions& options) {
  const std::string schedule =
      plan::is_program(options.schedule) ? sha256(options.schedule).hex() : options.schedule;
  const std::string training =
      options.training ? sha256(plan::training_json(options.training->settings)).hex() : "";
  return fmt::format("{} {} {} {} {} {} {} {} {}", shard.digest().hex(), options.engine,
                     runtime::to_string(options.precision), options.threads, options.device,
                     options.batch, options.max_error, schedule, training);
}

}  // namespace

ShardCache::ShardCache(runtime::RunnerFactory factory, runtime::WeightSource weights,
                       std::uint64_t memory_limit_bytes, MemoryProbe memory,
                       std::shared_ptr<WorkWatch> watch)
    : factory_(std::move(factory)),
      weights_(std::move(weights)),
      memory_(std::move(memory)),
      in_use_(std::make_shared<std::atomic<std::uint64_t>>(0)),
      limit_(std::make_unique<std::atomic<std::uint64_t>>(memory_limit_bytes)),
      request_limit_(std::make_unique<std::atomic<std::uint64_t>>(0)),
      watch_(std::move(watch)),
      turns_(watch_->limits().turn) {}

Expected<> ShardCache::check_memory(const plan::Shard& shard, std::uint64_t needed,
                                    const MemoryReading& reading) const {
  const std::uint64_t limit = *limit_;
  if (limit > 0) {
    const std::uint64_t free = difference(limit, memory_bytes(reading));
    if (needed <= free) return {};
    return fail(ErrorCode::kExhausted,
                "{} needs about {} of memory ({} of weights), the memory limit is {} and {} of it "
                "are free; unload shards or raise --memory-limit",
                name_of(shard), format_bytes(needed), format_bytes(shard.weight_bytes()),
                format_bytes(limit), format_bytes(free));
  }
  const std::uint64_t left = reading.total_bytes / kShareLeft;
  if (reading.available_bytes == 0 || needed + left <= reading.available_bytes) return {};
  return fail(ErrorCode::kExhausted,
              "{} needs about {} of memory ({} of weights), the machine has {} and {} of it are "
              "free, {} of which are left to others",
              name_of(shard), format_bytes(needed), format_bytes(shard.weight_bytes()),
              format_bytes(reading.total_bytes), format_bytes(reading.available_bytes),
              format_bytes(left));
}

std::uint64_t ShardCache::memory_bytes(const MemoryReading& reading) const {
  return *in_use_ + reading.packed_bytes;
}

std::optional<ShardCache::Known> ShardCache::known_of(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  return found != known_.end() ? std::optional(found->second) : std::nullopt;
}

runtime::RunnerOptions ShardCache::with_what_is_known(const std::optional<Known>& known,
                                                      const plan::Shard& shard,
                                                      const runtime::RunnerOptions& asked) const {
  runtime::RunnerOptions options = asked;
  options.is_hopeless = [&](const std::string& engine, runtime::Precision precision,
                            Nanoseconds plain) {
    return history_.is_hopeless(shard, asked, engine, precision, plain);
  };
  if (known) {
    options.engine = known->engine;
    options.precision = known->precision;
    options.precision_reason = known->precision_reason;
    if (asked.schedule == plan::kAutoSchedule) {
      options.schedule = known->schedule;
      options.schedule_reason = known->schedule_reason;
    }
  }
  return options;
}

std::optional<ShardCache::Loaded> ShardCache::find_loaded(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  ++found->second.users;
  return Loaded{found->second.shard, true};
}

Expected<ShardCache::Loaded> ShardCache::load(const plan::Shard& shard,
                                              const runtime::RunnerOptions& options,
                                              Deadline deadline) {
  if (options.batch < 1 || options.batch > plan::kMaxBatch) {
    return fail(ErrorCode::kInvalidArgument, "{}: batch {}, not 1 to {}", name_of(shard),
                options.batch, plan::kMaxBatch);
  }
  const std::string key = key_of(shard, options);
  const std::string what = "loading " + name_of(shard);
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const LoadTurns::Turn turn(turns_);
  // Waiting for the turn does not count. A caller in a hurry does not make a load stuck.
  const WorkLimits& limits = watch_->limits();
  const Nanoseconds limit =
      std::min(limits.load, deadline ? Nanoseconds(*deadline - std::chrono::steady_clock::now())
                                     : Nanoseconds::max());
  if (limit <= Nanoseconds(0)) {
    return fail(ErrorCode::kTimeout, "{} waited for other loads until its time was over", what);
  }
  const WorkWatch::Task task(*watch_, what, limit, stop, limits.load - limit + limits.grace);
  {
    const std::lock_guard lock(mutex_);
    if (auto loaded = find_loaded(key)) return *std::move(loaded);
  }
  if (!*stop) {
    auto loaded = load_anew(shard, options, key, stop);
    if (loaded || !*stop) return loaded;
  }
  return fail(
      ErrorCode::kTimeout,
      "{} takes longer than {:.3g} s and was stopped; if this device is only slow, raise its "
      "daemon's --load-timeout",
      what, to_seconds(limit));
}

Expected<ShardCache::Loaded> ShardCache::load_anew(const plan::Shard& shard,
                                                   const runtime::RunnerOptions& options,
                                                   const std::string& key,
                                                   const WorkWatch::StopFlag& stop) {
  std::uint64_t needed = plan::loading_bytes(shard, options.batch);
  if (options.training) needed += kTrainingCopies * shard.weight_bytes();
  const MemoryReading before = memory_();
  PARETO_TRY(check_memory(shard, needed, before));
  const std::optional<Known> known = known_of(key);
  runtime::RunnerOptions chosen = with_what_is_known(known, shard, options);
  chosen.stop = stop;
  const std::uint64_t most = *request_limit_;
  chosen.memory_bytes = most > 0 ? most : before.total_bytes / kRequestShare;
  PARETO_ASSIGN(auto runner, with_context(factory_(shard, weights_, chosen), "{}", name_of(shard)));
  // An engine that was stopped looks like one that does not run: the one that was kept need not be
  // the fastest.
  if (*stop) return fail(ErrorCode::kTimeout, "it was stopped");
  if (!options.training) history_.add(shard, options, runner->report());
  const MemoryReading after = memory_();
  const std::uint64_t taken = taken_bytes(before, after);
  const std::uint64_t packed = runner->report().packed_bytes;
  // Loading takes more than what stays: that is what the allocator says, where it does, and the
  // weights at least that are not packed, which engines read where they lie. Packed ones count for
  // all shards together.
  const std::uint64_t held = after.allocated_bytes > 0
                                 ? std::max(taken, difference(shard.weight_bytes(), packed))
                                 : difference(needed, packed);
  // Loading a shard frees several times what it keeps.
  return_freed_memory();
  std::string handle = fmt::format("{}-{}", key.substr(0, 12), ++loads_);
  *in_use_ += held;
  HeldMemory memory{taken + packed,
                    std::shared_ptr<const void>(
                        nullptr, [in_use = in_use_, held](const void*) { *in_use -= held; })};
  auto loaded = std::make_shared<LoadedShard>(std::move(handle), shard, options, std::move(runner),
                                              watch_, stop, std::move(memory));
  const std::lock_guard lock(mutex_);
  // Another load of the same may have gone on next to this one.
  if (auto other = find_loaded(key)) return *std::move(other);
  if (known_.size() < kMostKnown && !options.training) {
    const runtime::LoadReport& report = loaded->report();
    known_.try_emplace(key, Known{report.engine, report.precision, report.precision_reason,
                                  report.schedule, report.schedule_reason});
  }
  by_key_[key] = {loaded, 1};
  return Loaded{std::move(loaded), false};
}

Expected<> ShardCache::unload(const std::string& handle) {
  // Freed outside the lock: it may take a while.
  std::shared_ptr<LoadedShard> last;
  const std::lock_guard lock(mutex_);
  for (auto it = by_key_.begin(); it != by_key_.end(); ++it) {
    if (it->second.shard->handle() != handle) continue;
    if (--it->second.users == 0) {
      last = std::move(it->second.shard);
      by_key_.erase(it);
    }
    return {};
  }
  return fail(ErrorCode::kNotFound, "no shard \"{}\" is loaded", handle);
}

Expected<std::shared_ptr<LoadedShard>> ShardCache::find(const std::string& handle) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : by_key_) {
    if (entry.shard->handle() == handle) return entry.shard;
  }
  return fail(ErrorCode::kNotFound, "no shard \"{}\" is loaded", handle);
}

std::vector<ShardCache::Entry> ShardCache::entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> list;
  for (const auto& [key, entry] : by_key_) list.push_back(entry);
  return list;
}

}  // namespace pareto::daemon
