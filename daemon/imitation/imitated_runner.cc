#include "daemon/imitation/imitated_runner.h"

#include <spdlog/spdlog.h>

#include <cstddef>
#include <utility>

#include "daemon/imitation/imitated_trainer.h"

namespace pareto::daemon {
namespace {

/// Times that an operator is run when it is timed first.
constexpr int kPaceRepeats = 15;

/// The most shards whose pace is remembered when they are gone.
constexpr std::size_t kMostKnown = 10'000;

std::uint64_t bytes_of(const std::vector<Value>& values) {
  std::uint64_t bytes = 0;
  for (const Value& value : values) bytes += tensor_bytes(value);
  return bytes;
}

/// Operators are timed in the plain engine: engine, precision and threads make no difference.
std::string key_of(const plan::Shard& shard, const runtime::RunnerOptions& options) {
  return fmt::format("{} {} {}", shard.digest().hex(), options.device, options.batch);
}

/// Profiles a shard, and again more often if `paces` lack an operator of it: they keep the times of
/// the first run for good. Fails: as ShardRunner::profile does.
Expected<runtime::ShardProfile> profile_for(const OperatorPaces& paces, runtime::ShardRunner& real,
                                            const std::vector<Value>& inputs, int repeats,
                                            const std::vector<std::int64_t>& cuts) {
  auto profile = real.profile(inputs, repeats, cuts);
  if (!profile || paces.know(profile->operators)) return profile;
  return real.profile(inputs, kPaceRepeats, cuts);
}

/// Outputs, each offered when the imitated processor has made it.
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

Expected<std::optional<SteadyPace>> ImitatedDevice::pace_of(const plan::Shard& shard,
                                                            const runtime::RunnerOptions& options,
                                                            runtime::ShardRunner& real) {
  if (!paces_ || options.training) return std::nullopt;
  const std::string key = key_of(shard, options);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
  }
  const auto inputs = plan::make_examples(shard.inputs, options.batch, plan::kExampleSeed);
  auto timed = inputs ? profile_for(*paces_, real, *inputs, 0, {}) : tl::unexpected(inputs.error());
  if (!timed) {
    spdlog::warn("shard {} [{}, {}) is not steady here: its operators cannot be timed: {}",
                 shard.model, shard.begin, shard.end, timed.error().message);
    return std::nullopt;
  }
  PARETO_TRY(paces_->settle(*timed));
  SteadyPace pace(*timed, bytes_of(*inputs));
  const std::lock_guard lock(mutex_);
  if (known_.size() < kMostKnown) known_.try_emplace(key, pace);
  return pace;
}

Expected<runtime::ShardProfile> ImitatedDevice::profile(runtime::ShardRunner& real,
                                                        const std::vector<Value>& inputs,
                                                        int repeats,
                                                        const std::vector<std::int64_t>& cuts,
                                                        int threads) const {
  PARETO_ASSIGN(runtime::ShardProfile profile,
                paces_ ? profile_for(*paces_, real, inputs, repeats, cuts)
                       : real.profile(inputs, repeats, cuts));
  if (paces_) PARETO_TRY(paces_->settle(profile));
  const auto there = [this, times = processor_.times(threads)](Nanoseconds here) {
    return paces_ ? processor_.at_pace(here) : from_nanoseconds(times * to_nanoseconds(here));
  };
  for (auto& one : profile.operators) one.median = there(one.median);
  for (auto& one : profile.segments) one.median = there(one.median);
  return profile;
}

ImitatedRunner::ImitatedRunner(std::shared_ptr<ImitatedDevice> device,
                               std::unique_ptr<ShardRunner> real, runtime::RunnerOptions options,
                               std::optional<SteadyPace> pace)
    : device_(std::move(device)),
      real_(std::move(real)),
      options_(std::move(options)),
      pace_(std::move(pace)),
      trainer_(real_->trainer() == nullptr
                   ? nullptr
                   : std::make_unique<ImitatedTrainer>(device_, *real_->trainer(), options_)),
      workers_(real_->worker_times().size()) {}

Expected<std::unique_ptr<runtime::ShardRunner>> ImitatedRunner::make(
    std::shared_ptr<ImitatedDevice> device, std::unique_ptr<ShardRunner> real,
    const plan::Shard& shard, const runtime::RunnerOptions& options) {
  PARETO_ASSIGN(auto pace, device->pace_of(shard, options, *real));
  runtime::RunnerOptions kept = options;
  kept.is_hopeless = nullptr;  // It is called while a shard is loaded, and lives no longer.
  return std::unique_ptr<ShardRunner>(
      new ImitatedRunner(std::move(device), std::move(real), std::move(kept), std::move(pace)));
}

SlowProcessor::Work ImitatedRunner::begin(const std::vector<Value>& inputs) {
  if (!pace_) return {device_->processor(), options_};
  return {device_->processor(), options_, &*pace_, bytes_of(inputs)};
}

template <typename Run>
Expected<std::vector<Value>> ImitatedRunner::finish(SlowProcessor::Work& work, Run run) {
  const std::vector<Nanoseconds> before = real_->worker_times();
  const TimePoint begin = std::chrono::steady_clock::now();
  auto outputs = run();
  const Nanoseconds here = std::chrono::steady_clock::now() - begin;
  if (outputs) PARETO_TRY(work.finish());
  const Nanoseconds there = std::chrono::steady_clock::now() - begin;
  const std::vector<Nanoseconds> after = real_->worker_times();
  const double times = here > Nanoseconds(0) ? to_seconds(there) / to_seconds(here) : 1;
  const std::lock_guard lock(workers_mutex_);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i] += from_nanoseconds(times * to_nanoseconds(after[i] - before[i]));
  }
  return outputs;
}

std::vector<Nanoseconds> ImitatedRunner::worker_times() const {
  const std::lock_guard lock(workers_mutex_);
  return workers_;
}

Expected<std::vector<Value>> ImitatedRunner::run(std::vector<Value> inputs) {
  SlowProcessor::Work work = begin(inputs);
  return finish(work, [&] { return real_->run(std::move(inputs)); });
}

Expected<std::vector<Value>> ImitatedRunner::run_early(std::vector<Value> inputs,
                                                       runtime::EarlyOutputs& early) {
  SlowProcessor::Work work = begin(inputs);
  SlowOutputs slow(work, early);
  return finish(work, [&] { return real_->run_early(std::move(inputs), slow); });
}

Expected<runtime::ShardProfile> ImitatedRunner::profile(std::vector<Value> inputs, int repeats,
                                                        const std::vector<std::int64_t>& cuts) {
  return device_->profile(*real_, inputs, repeats, cuts, options_.threads);
}

runtime::RunnerFactory imitate(std::shared_ptr<ImitatedDevice> device,
                               runtime::RunnerFactory real) {
  return [device = std::move(device), real = std::move(real)](const plan::Shard& shard,
                                                              const runtime::WeightSource& weights,
                                                              const runtime::RunnerOptions& options)
             -> Expected<std::unique_ptr<runtime::ShardRunner>> {
    PARETO_ASSIGN(auto runner, real(shard, weights, options));
    return ImitatedRunner::make(device, std::move(runner), shard, options);
  };
}

}  // namespace pareto::daemon
