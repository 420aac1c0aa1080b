// A shard that this device has loaded, and the rules of running it: one run at a time, each
// watched, each timed.
//
//   stages of several pipelines ──run──▶ LoadedShard ──its turn, WorkWatch──▶ ShardRunner
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/pause.h"
#include "core/plan/shard.h"
#include "daemon/stage/work_watch.h"
#include "runtime/shard_runner.h"
#include "runtime/training/trainer.h"

namespace pareto::daemon {

/// Memory that a loaded shard takes.
struct HeldMemory {
  std::uint64_t bytes = 0;  ///< bytes of this process, with weights that it shares
  /// Its part of the memory limit, given back when the last holder lets go of it.
  std::shared_ptr<const void> account{};
};

/// A runner and what is known of it. Stages of several pipelines may share one; they take turns.
///
/// Threads: any; run() and profile() wait for each other.
class LoadedShard {
 public:
  /// The shard to oneself: nobody else runs it until this is given back or destroyed. Threads: any.
  class Use {
   public:
    Use() = default;
    ~Use() { give_back(); }
    Use(Use&& other) noexcept : shard_(std::exchange(other.shard_, nullptr)) {}
    Use& operator=(Use&& other) noexcept {
      std::swap(shard_, other.shard_);
      return *this;
    }
    explicit operator bool() const { return shard_ != nullptr; }
    void give_back() {
      if (LoadedShard* const shard = std::exchange(shard_, nullptr)) shard->free();
    }

   private:
    friend class LoadedShard;
    explicit Use(LoadedShard& shard) : shard_(&shard) {}
    LoadedShard* shard_ = nullptr;
  };
  struct Result {
    std::vector<Value> outputs;
    Nanoseconds waited{};                ///< waiting for other pipelines' requests, pauses included
    Nanoseconds paused{};                ///< the pauses of it
    Nanoseconds compute{};               ///< running the shard
    std::vector<Nanoseconds> workers{};  ///< time that each worker of its schedule computed
  };
  struct Profile {
    std::vector<Nanoseconds> whole;  ///< the engine in use, run by run
    runtime::ShardProfile parts;
  };

  /// `runner` has loaded `shard` with `options`; `stop` is the flag that it obeys.
  LoadedShard(std::string handle, plan::Shard shard, runtime::RunnerOptions options,
              std::unique_ptr<runtime::ShardRunner> runner,
              std::shared_ptr<WorkWatch> watch = std::make_shared<WorkWatch>(WorkLimits()),
              WorkWatch::StopFlag stop = std::make_shared<std::atomic<bool>>(false),
              HeldMemory memory = {});

  /// Waits until nobody else uses the shard. A profile takes as long as a load may: who waits holds
  /// nothing that others need, as cores of the device.
  Use use();
  /// Returns a Use if nobody else has it; else an empty one.
  Use try_use();
  /// Waits until nobody uses the shard, the deadline passes or a stop is asked for.
  void wait_until_free(const std::stop_token& stop, Deadline deadline);
  /// Runs the shard; `early`, if given, takes outputs while others are computed, and `pauser` may
  /// pause it between operators. Fails: as ShardRunner::run does; kTimeout (it took longer than the
  /// watch allows, pauses not counted); kClosed (stop()).
  Expected<Result> run(std::vector<Value> inputs, runtime::EarlyOutputs* early = nullptr,
                       Pauser* pauser = nullptr);
  /// Does the same for who has the shard to itself, and gives it back.
  Expected<Result> run(Use use, std::vector<Value> inputs, runtime::EarlyOutputs* early,
                       Pauser* pauser);
  /// Returns whether it was loaded to be trained.
  bool trains() const { return runner_->trainer() != nullptr; }
  /// Calls `pass` with what trains the shard, by the rules of run(). Returns how long it took.
  /// Fails: kInvalidArgument (it is not trained), kTimeout as run() does, and as `pass` does.
  /// `key` is what stop() names it by.
  Expected<Nanoseconds> train(const std::function<Expected<>(runtime::Trainer&)>& pass,
                              const runtime::EarlyOutputs* key = nullptr);
  /// Does the same for who has the shard to itself, and gives it back.
  Expected<Nanoseconds> train(Use use, const std::function<Expected<>(runtime::Trainer&)>& pass,
                              const runtime::EarlyOutputs* key);
  /// Makes the run that is under way for that taker fail soon, if it is in a loop of the shard.
  void stop(const runtime::EarlyOutputs& early);
  /// Runs the shard on example inputs of that batch: the whole `repeats` times, after a run that
  /// does not count, and its parts `part_repeats` times. 0 means not at all. `cuts` are as in
  /// ShardRunner::profile.
  /// Fails: kInvalidArgument (batch, repeats, cuts), and as the runner does.
  Expected<Profile> profile(std::int64_t batch, int repeats, int part_repeats,
                            const std::vector<std::int64_t>& cuts = {});

  /// Returns what the shard sends on when it is run on example inputs of the batch it was loaded
  /// for. Fails: as run() does.
  Expected<std::vector<Value>> example_outputs();

  const std::string& handle() const { return handle_; }
  /// Returns the shard without its archive.
  const plan::Shard& shard() const { return shard_; }
  const runtime::RunnerOptions& options() const { return options_; }
  const runtime::LoadReport& report() const { return runner_->report(); }
  /// Returns the number of its schedule's workers; 0 if it has no schedule.
  std::size_t workers() const { return runner_->worker_times().size(); }
  /// Returns the memory of this process that it takes, including weights that it shares with
  /// others.
  std::uint64_t memory_bytes() const { return memory_.bytes; }
  /// Bytes of the tensors that one request of the loaded batch sends on.
  std::uint64_t output_bytes() const;

 private:
  class Run;
  class RunPauser;
  void free();

  const std::string handle_;
  const plan::Shard shard_;
  const runtime::RunnerOptions options_;
  // Its account is given back after the runner has gone.
  const HeldMemory memory_;
  const std::unique_ptr<runtime::ShardRunner> runner_;
  const std::shared_ptr<WorkWatch> watch_;
  const WorkWatch::StopFlag stop_;  ///< the flag that its runner obeys
  const std::string request_name_;  ///< for the watch
  std::mutex use_mutex_;
  std::condition_variable_any freed_;
  bool used_ = false;  ///< somebody has the shard to himself
  std::mutex running_mutex_;
  const runtime::EarlyOutputs* running_for_ = nullptr;
};

/// Returns "shard mobilenetv2 [0, 41)": the name of a shard in errors and logs.
std::string name_of(const plan::Shard& shard);

}  // namespace pareto::daemon
