#include "daemon/stage/shard_cache.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/plan/plan.h"

namespace pareto::daemon {
namespace {

constexpr std::uint64_t kExampleSeed = 1;
constexpr int kMaxRepeats = 1000;
/// Of all memory one part in so many stays free: a machine without any ends whatever took most of it.
constexpr std::uint64_t kShareLeft = 16;

/// Of the operators of a steady device, the first time.
constexpr int kPaceRepeats = 15;

/// Remembered beyond their shards.
constexpr std::size_t kMostKnown = 10'000;

std::uint64_t difference(std::uint64_t more, std::uint64_t less) {
  return more - std::min(more, less);
}

/// By loading a shard, between two readings, but for packed weights, which it shares. Memory of an earlier shard that is used again was
/// resident before.
std::uint64_t taken_bytes(const MemoryReading& before, const MemoryReading& after) {
  const bool known = before.allocated_bytes > 0 && after.allocated_bytes > 0;
  const auto unshared = [known](const MemoryReading& reading) {
    return difference(known ? reading.allocated_bytes : reading.resident_bytes,
                      reading.packed_bytes);
  };
  return difference(unshared(after), unshared(before));
}

std::string key_of(const plan::Shard& shard, const runtime::RunnerOptions& options) {
  return fmt::format("{} {} {} {} {} {} {}", shard.digest().hex(), options.engine,
                     runtime::to_string(options.precision), options.threads, options.device,
                     options.batch, options.max_error);
}

std::string name_of(const plan::Shard& shard) {
  return fmt::format("shard {} [{}, {})", shard.model, shard.begin, shard.end);
}

plan::Shard without_archive(plan::Shard shard) {
  shard.archive.clear();
  shard.archive.shrink_to_fit();
  return shard;
}

std::uint64_t bytes_of(const std::vector<Value>& values) {
  std::uint64_t bytes = 0;
  for (const Value& value : values) bytes += tensor_bytes(value);
  return bytes;
}

/// Takes outputs when the imitated processor has made them.
class SlowOutputs final : public runtime::EarlyOutputs {
 public:
  SlowOutputs(SlowProcessor::Work& work, runtime::EarlyOutputs& taker)
      : work_(work), taker_(taker) {}
  bool wants(std::size_t index) override {
    work_.catch_up(index);
    return taker_.wants(index);
  }
  void take(std::size_t index, Value value) override { taker_.take(index, std::move(value)); }

 private:
  SlowProcessor::Work& work_;
  runtime::EarlyOutputs& taker_;
};

}  // namespace

/// One run of the runner, as the watch sees it and as it can be stopped.
class LoadedShard::Run {
 public:
  /// `flag`: what the limit is set by.
  Run(LoadedShard& shard, Nanoseconds limit, const char* flag, const runtime::EarlyOutputs* early)
      : shard_(begin(shard, early)),
        task_(*shard.watch_, shard.request_name_, limit, shard.stop_),
        limit_(limit),
        flag_(flag) {}
  ~Run() {
    const std::lock_guard lock(shard_.running_mutex_);
    shard_.running_for_ = nullptr;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Returns the run's result, with the true reason if it failed because it was stopped.
  template <typename Result>
  Expected<Result> judged(Expected<Result> result) const {
    if (result || !*shard_.stop_) return result;
    if (!task_.overdue()) return fail(ErrorCode::kClosed, "it was stopped: its stage was closed");
    return fail(ErrorCode::kTimeout,
                "it takes longer than {:.3g} s and was stopped; if this device is only slow, raise "
                "its daemon's {}",
                to_seconds(limit_), flag_);
  }

 private:
  static LoadedShard& begin(LoadedShard& shard, const runtime::EarlyOutputs* early) {
    const std::lock_guard lock(shard.running_mutex_);
    *shard.stop_ = false;
    shard.running_for_ = early;
    return shard;
  }

  LoadedShard& shard_;
  const WorkWatch::Task task_;
  const Nanoseconds limit_;
  const char* const flag_;
};

LoadedShard::LoadedShard(std::string handle, plan::Shard shard, runtime::RunnerOptions options,
                         std::unique_ptr<runtime::ShardRunner> runner,
                         std::shared_ptr<SlowProcessor> processor, std::shared_ptr<WorkWatch> watch,
                         WorkWatch::StopFlag stop)
    : handle_(std::move(handle)),
      shard_(without_archive(std::move(shard))),
      options_(std::move(options)),
      runner_(std::move(runner)),
      processor_(std::move(processor)),
      watch_(std::move(watch)),
      stop_(std::move(stop)),
      request_name_("a request of " + name_of(shard_)) {}

void LoadedShard::stop(const runtime::EarlyOutputs& early) {
  const std::lock_guard lock(running_mutex_);
  if (running_for_ == &early) *stop_ = true;
}

Expected<LoadedShard::Result> LoadedShard::run(std::vector<Value> inputs,
                                               runtime::EarlyOutputs* early) {
  const TimePoint asked = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  const TimePoint started = std::chrono::steady_clock::now();
  SlowProcessor::Work work(*processor_, options_, pace_ ? &*pace_ : nullptr,
                           pace_ ? bytes_of(inputs) : 0);
  const auto run_slowly = [&] {
    const Run run(*this, watch_->limits().request, "--request-timeout", early);
    if (early == nullptr) return run.judged(runner_->run(std::move(inputs)));
    SlowOutputs slow(work, *early);
    return run.judged(runner_->run_early(std::move(inputs), slow));
  };
  PARETO_ASSIGN(std::vector<Value> outputs, run_slowly());
  work.finish();
  return Result{std::move(outputs), started - asked, std::chrono::steady_clock::now() - started};
}

Expected<LoadedShard::Profile> LoadedShard::profile(std::int64_t batch, int repeats,
                                                    int part_repeats,
                                                    const std::vector<std::int64_t>& cuts) {
  const auto in_range = [](int count) { return count >= 0 && count <= kMaxRepeats; };
  if (batch < 1 || batch > plan::kMaxBatch || !in_range(repeats) || !in_range(part_repeats)) {
    return fail(ErrorCode::kInvalidArgument,
                "profiling at batch {}, {} times, its parts {} times: batch 1 to {}, 0 to {} times",
                batch, repeats, part_repeats, plan::kMaxBatch, kMaxRepeats);
  }
  PARETO_ASSIGN(const std::vector<Value> inputs, make_examples(shard_.inputs, batch, kExampleSeed));
  Profile profile;
  for (int i = -1; i < repeats && repeats > 0; ++i) {
    PARETO_ASSIGN(const Result result, run(inputs));
    if (i >= 0) profile.whole.push_back(result.compute);
  }
  if (part_repeats == 0) return profile;
  const std::lock_guard lock(mutex_);
  const Run run(*this, watch_->limits().load, "--load-timeout", nullptr);
  PARETO_ASSIGN(profile.parts, run.judged(runner_->profile(inputs, part_repeats, cuts)));
  if (paces_) {
    if (!paces_->know(profile.parts.operators)) {
      PARETO_ASSIGN(profile.parts, runner_->profile(inputs, kPaceRepeats, cuts));
    }
    PARETO_TRY(paces_->settle(profile.parts));
  }
  const auto there = [this, times = processor_->times(options_.threads)](Nanoseconds here) {
    return paces_ ? processor_->at_pace(here) : from_nanoseconds(times * to_nanoseconds(here));
  };
  const auto slow = [&there](auto& parts) {
    for (auto& part : parts) part.median = there(part.median);
  };
  slow(profile.parts.operators);
  slow(profile.parts.segments);
  return profile;
}

Expected<> LoadedShard::keep_pace(std::shared_ptr<OperatorPaces> paces,
                                  const std::optional<SteadyPace>& known) {
  paces_ = std::move(paces);
  if (known) {
    pace_.emplace(*known);
    return {};
  }
  const auto inputs = make_examples(shard_.inputs, options_.batch, kExampleSeed);
  auto timed = inputs ? runner_->profile(*inputs, 0, {}) : tl::unexpected(inputs.error());
  if (timed && !paces_->know(timed->operators)) {
    timed = runner_->profile(*inputs, kPaceRepeats, {});
  }
  if (!timed) {
    spdlog::warn("{} is not steady here: its operators cannot be timed: {}", name_of(shard_),
                 timed.error().message);
    return {};
  }
  PARETO_TRY(paces_->settle(*timed));
  pace_.emplace(*timed, bytes_of(*inputs));
  return {};
}

Expected<std::vector<Value>> LoadedShard::example_outputs() {
  PARETO_ASSIGN(std::vector<Value> inputs,
                make_examples(shard_.inputs, options_.batch, kExampleSeed));
  PARETO_ASSIGN(Result result, run(std::move(inputs)));
  return std::move(result.outputs);
}

std::uint64_t LoadedShard::output_bytes() const {
  return boundary_bytes(shard_.outputs, options_.batch);
}

ShardCache::ShardCache(RunnerFactory factory, runtime::WeightSource weights,
                       std::uint64_t memory_limit_bytes, MemoryProbe memory,
                       const ImitatedProcessor& imitated, std::shared_ptr<WorkWatch> watch)
    : factory_(std::move(factory)),
      processor_(std::make_shared<SlowProcessor>(imitated.speed)),
      paces_(imitated.paces),
      weights_(std::move(weights)),
      memory_(std::move(memory)),
      in_use_(std::make_shared<std::atomic<std::uint64_t>>(0)),
      limit_(std::make_unique<std::atomic<std::uint64_t>>(memory_limit_bytes)),
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
  const auto limit = std::min(
      watch_->limits().load,
      deadline ? Nanoseconds(*deadline - std::chrono::steady_clock::now()) : Nanoseconds::max());
  const std::string what = "loading " + name_of(shard);
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const WorkWatch::Task task(*watch_, what, limit, stop);
  const LoadTurns::Turn turn(turns_);
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
  const std::uint64_t needed = plan::loading_bytes(shard, options.batch);
  const MemoryReading before = memory_();
  PARETO_TRY(check_memory(shard, needed, before));
  const std::optional<Known> known = known_of(key);
  runtime::RunnerOptions chosen = with_what_is_known(known, shard, options);
  chosen.stop = stop;
  PARETO_ASSIGN(auto runner, with_context(factory_(shard, weights_, chosen), "{}", name_of(shard)));
  // An engine that was stopped looks like one that does not run: the one that was kept need not be the fastest.
  if (*stop) return fail(ErrorCode::kTimeout, "it was stopped");
  history_.add(shard, options, runner->report());
  const MemoryReading after = memory_();
  const std::uint64_t taken = taken_bytes(before, after);
  const std::uint64_t packed = runner->report().packed_bytes;
  // Loading takes more than what stays: that is what the allocator says, where it does, and the weights at least that are not packed, which
  // engines read where they lie. Packed ones count for all shards together.
  const std::uint64_t held = after.allocated_bytes > 0
                                 ? std::max(taken, difference(shard.weight_bytes(), packed))
                                 : difference(needed, packed);
  return_freed_memory();
  std::string handle = fmt::format("{}-{}", key.substr(0, 12), ++loads_);
  auto loaded = std::make_shared<LoadedShard>(handle, shard, options, std::move(runner), processor_,
                                              watch_, stop);
  const std::optional<SteadyPace> pace = known ? known->pace : std::nullopt;
  if (paces_) PARETO_TRY(with_context(loaded->keep_pace(paces_, pace), "{}", name_of(shard)));

  const std::lock_guard lock(mutex_);
  // Another load of the same may have gone on beside this one.
  if (auto other = find_loaded(key)) return *std::move(other);
  if (known_.size() < kMostKnown) {
    const runtime::LoadReport& report = loaded->report();
    known_.try_emplace(
        key, Known{report.engine, report.precision, report.precision_reason, loaded->pace_});
  }
  loaded->memory_bytes_ = taken + packed;
  *in_use_ += held;
  loaded->account_ = std::shared_ptr<const void>(
      nullptr, [in_use = in_use_, held](const void*) { *in_use -= held; });
  by_key_[key] = {loaded, 1};
  return Loaded{std::move(loaded), false};
}

LoadTurns::Turn::Turn(LoadTurns& turns) : turns_(turns) {
  std::unique_lock lock(turns_.mutex_);
  while (turns_.holder_ != 0 && turns_.changed_.wait_until(lock, turns_.since_ + turns_.turn_) !=
                                    std::cv_status::timeout) {
  }
  turns_.since_ = std::chrono::steady_clock::now();
  number_ = turns_.holder_ = ++turns_.last_;
}

LoadTurns::Turn::~Turn() {
  const std::lock_guard lock(turns_.mutex_);
  if (turns_.holder_ == number_) turns_.holder_ = 0;
  turns_.changed_.notify_one();
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
