#include "daemon/stage/loaded_shard.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/plan/plan.h"

namespace pareto::daemon {
namespace {

constexpr int kMaxRepeats = 1000;

plan::Shard without_archive(plan::Shard shard) {
  shard.archive.clear();
  shard.archive.shrink_to_fit();
  return shard;
}

}  // namespace

std::string name_of(const plan::Shard& shard) {
  return fmt::format("shard {} [{}, {})", shard.model, shard.begin, shard.end);
}

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

  WorkWatch::Task& task() { return task_; }
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
  WorkWatch::Task task_;
  const Nanoseconds limit_;
  const char* const flag_;
};

/// Pauses of a run, which count neither as its time nor against its limit.
class LoadedShard::RunPauser final : public Pauser {
 public:
  RunPauser(Pauser& pauser, WorkWatch::Task& task) : pauser_(pauser), task_(task) {}
  bool is_wanted() const override { return pauser_.is_wanted(); }
  bool pause() override {
    const TimePoint begin = std::chrono::steady_clock::now();
    task_.hold();
    const bool goes_on = pauser_.pause();
    task_.go_on();
    paused_ += std::chrono::steady_clock::now() - begin;
    return goes_on;
  }
  Nanoseconds paused() const { return paused_; }

 private:
  Pauser& pauser_;
  WorkWatch::Task& task_;
  Nanoseconds paused_{};
};

LoadedShard::LoadedShard(std::string handle, plan::Shard shard, runtime::RunnerOptions options,
                         std::unique_ptr<runtime::ShardRunner> runner,
                         std::shared_ptr<WorkWatch> watch, WorkWatch::StopFlag stop,
                         HeldMemory memory)
    : handle_(std::move(handle)),
      shard_(without_archive(std::move(shard))),
      options_(std::move(options)),
      memory_(std::move(memory)),
      runner_(std::move(runner)),
      watch_(std::move(watch)),
      stop_(std::move(stop)),
      request_name_("a request of " + name_of(shard_)) {}

void LoadedShard::free() {
  const std::lock_guard lock(use_mutex_);
  used_ = false;
  // Under the lock: who is woken may destroy the shard.
  freed_.notify_all();
}

LoadedShard::Use LoadedShard::use() {
  std::unique_lock lock(use_mutex_);
  freed_.wait(lock, [this] { return !used_; });
  used_ = true;
  return Use(*this);
}

LoadedShard::Use LoadedShard::try_use() {
  const std::lock_guard lock(use_mutex_);
  if (std::exchange(used_, true)) return {};
  return Use(*this);
}

void LoadedShard::wait_until_free(const std::stop_token& stop, Deadline deadline) {
  const auto is_free = [this] { return !used_; };
  std::unique_lock lock(use_mutex_);
  if (deadline) {
    freed_.wait_until(lock, stop, *deadline, is_free);
  } else {
    freed_.wait(lock, stop, is_free);
  }
}

void LoadedShard::stop(const runtime::EarlyOutputs& early) {
  const std::lock_guard lock(running_mutex_);
  if (running_for_ == &early) *stop_ = true;
}

Expected<LoadedShard::Result> LoadedShard::run(std::vector<Value> inputs,
                                               runtime::EarlyOutputs* early, Pauser* pauser) {
  const TimePoint asked = std::chrono::steady_clock::now();
  Use own = use();
  const Nanoseconds waited = std::chrono::steady_clock::now() - asked;
  auto result = run(std::move(own), std::move(inputs), early, pauser);
  if (result) result->waited += waited;
  return result;
}

Expected<LoadedShard::Result> LoadedShard::run(Use /*use*/, std::vector<Value> inputs,
                                               runtime::EarlyOutputs* early, Pauser* pauser) {
  const std::vector<Nanoseconds> before = runner_->worker_times();
  const TimePoint started = std::chrono::steady_clock::now();
  Nanoseconds paused{};
  PARETO_ASSIGN(std::vector<Value> outputs, [&] {
    Run run(*this, watch_->limits().request, "--request-timeout", early);
    std::optional<RunPauser> own;
    if (pauser != nullptr) own.emplace(*pauser, run.task());
    const PauseScope scope(own ? &*own : nullptr);
    const auto note = [&](Expected<std::vector<Value>> result) {
      if (own) paused = own->paused();
      return result;
    };
    return run.judged(note(early == nullptr ? runner_->run(std::move(inputs))
                                            : runner_->run_early(std::move(inputs), *early)));
  }());
  const Nanoseconds compute = std::chrono::steady_clock::now() - started - paused;
  std::vector<Nanoseconds> workers = runner_->worker_times();
  std::ranges::transform(workers, before, workers.begin(), std::minus());
  return Result{std::move(outputs), paused, paused, compute, std::move(workers)};
}

Expected<Nanoseconds> LoadedShard::train(const std::function<Expected<>(runtime::Trainer&)>& pass,
                                         const runtime::EarlyOutputs* key) {
  return train(use(), pass, key);
}

Expected<Nanoseconds> LoadedShard::train(Use /*use*/,
                                         const std::function<Expected<>(runtime::Trainer&)>& pass,
                                         const runtime::EarlyOutputs* key) {
  runtime::Trainer* const trainer = runner_->trainer();
  if (trainer == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "{} was not loaded to be trained", name_of(shard_));
  }
  const TimePoint started = std::chrono::steady_clock::now();
  {
    const Run run(*this, watch_->limits().request, "--request-timeout", key);
    PARETO_TRY(run.judged(pass(*trainer)));
  }
  return std::chrono::steady_clock::now() - started;
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
  PARETO_ASSIGN(const std::vector<Value> inputs,
                make_examples(shard_.inputs, batch, plan::kExampleSeed));
  Profile profile;
  for (int i = -1; i < repeats && repeats > 0; ++i) {
    PARETO_ASSIGN(const Result result, run(inputs));
    if (i >= 0) profile.whole.push_back(result.compute);
  }
  if (part_repeats == 0) return profile;
  const Use own = use();
  const Run run(*this, watch_->limits().load, "--load-timeout", nullptr);
  PARETO_ASSIGN(profile.parts, run.judged(runner_->profile(inputs, part_repeats, cuts)));
  return profile;
}

Expected<std::vector<Value>> LoadedShard::example_outputs() {
  PARETO_ASSIGN(std::vector<Value> inputs,
                make_examples(shard_.inputs, options_.batch, plan::kExampleSeed));
  PARETO_ASSIGN(Result result, run(std::move(inputs)));
  return std::move(result.outputs);
}

std::uint64_t LoadedShard::output_bytes() const {
  return boundary_bytes(shard_.outputs, options_.batch);
}

}  // namespace pareto::daemon
