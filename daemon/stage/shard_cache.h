// Shards loaded on this device, each once however many pipelines use it.
//
//   LoadShard --memory check--> ShardRunner::load (weights from the TensorStore) --> LoadedShard --shared by--> Stages
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/shard.h"
#include "core/runtime/shard_runner.h"
#include "daemon/imitation/slow_processor.h"
#include "daemon/stage/engine_history.h"
#include "daemon/stage/memory.h"
#include "daemon/stage/work_watch.h"

namespace pareto::daemon {

/// runtime::ShardRunner::load, or a test's own.
using RunnerFactory = std::function<Expected<std::unique_ptr<runtime::ShardRunner>>(
    const plan::Shard&, const runtime::WeightSource&, const runtime::RunnerOptions&)>;

/// A runner and what is known of it. Stages of several pipelines may share one; they take turns.
///
/// Threads: any; run() and profile() wait for each other.
class LoadedShard {
 public:
  struct Result {
    std::vector<Value> outputs;
    Nanoseconds waited{};   ///< for other pipelines' requests
    Nanoseconds compute{};  ///< running the shard
  };
  struct Profile {
    std::vector<Nanoseconds> whole;  ///< the engine in use, run by run
    runtime::ShardProfile parts;
  };

  LoadedShard(std::string handle, plan::Shard shard, runtime::RunnerOptions options,
              std::unique_ptr<runtime::ShardRunner> runner,
              std::shared_ptr<SlowProcessor> processor = std::make_shared<SlowProcessor>(0),
              std::shared_ptr<WorkWatch> watch = std::make_shared<WorkWatch>(WorkLimits()),
              WorkWatch::StopFlag stop = std::make_shared<std::atomic<bool>>(false));

  /// `early`, where given: takes outputs while others are computed. Fails: as ShardRunner::run does; kTimeout if it takes longer than
  /// the watch allows, or was stopped.
  Expected<Result> run(std::vector<Value> inputs, runtime::EarlyOutputs* early = nullptr);
  /// Makes the run that is under way for that taker fail soon, if it is in a loop of the shard. Threads: any.
  void stop(const runtime::EarlyOutputs& early);
  /// On example inputs of that batch: the whole so many times, after a run that is not counted, and its parts so many times; 0: not at all.
  /// `cuts`: as ShardRunner::profile. Fails: kInvalidArgument (batch, repeats, cuts), and as the runner does.
  Expected<Profile> profile(std::int64_t batch, int repeats, int part_repeats,
                            const std::vector<std::int64_t>& cuts = {});

  /// What it sends on when it is run on example inputs of the batch it was loaded for. Fails: as run() does.
  Expected<std::vector<Value>> example_outputs();

  const std::string& handle() const { return handle_; }
  /// Without its archive.
  const plan::Shard& shard() const { return shard_; }
  const runtime::RunnerOptions& options() const { return options_; }
  const runtime::LoadReport& report() const { return runner_->report(); }
  /// What it takes of this process's memory, all of its weights included that it shares with others.
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Bytes of the tensors that one request of the loaded batch sends on.
  std::uint64_t output_bytes() const;

 private:
  friend class ShardCache;
  class Run;
  /// Sums of these are its pace from now on, or what is `known` of it. Fails: as OperatorPaces.
  Expected<> keep_pace(std::shared_ptr<OperatorPaces> paces,
                       const std::optional<SteadyPace>& known);

  const std::string handle_;
  const plan::Shard shard_;
  const runtime::RunnerOptions options_;
  // Its share of the memory limit, given back after the runner has gone.
  std::shared_ptr<const void> account_;
  const std::unique_ptr<runtime::ShardRunner> runner_;
  const std::shared_ptr<SlowProcessor> processor_;
  std::shared_ptr<OperatorPaces> paces_;  ///< null: runs take what they take
  std::optional<SteadyPace> pace_;        ///< none, too, where it does not run on example inputs
  std::uint64_t memory_bytes_ = 0;
  const std::shared_ptr<WorkWatch> watch_;
  const WorkWatch::StopFlag stop_;  ///< which its runner obeys
  const std::string request_name_;  ///< for the watch
  std::mutex mutex_;
  std::mutex running_mutex_;
  const runtime::EarlyOutputs* running_for_ = nullptr;
};

/// Lets one load after another go on: engines are timed while they load. But none keeps the others waiting for longer than a turn.
///
/// Threads: any.
class LoadTurns {
 public:
  explicit LoadTurns(Nanoseconds turn) : turn_(turn) {}

  /// One load's turn, given back when it is destroyed.
  class Turn {
   public:
    explicit Turn(LoadTurns& turns);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    LoadTurns& turns_;
    std::uint64_t number_ = 0;
  };

 private:
  const Nanoseconds turn_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t last_ = 0;
  std::uint64_t holder_ = 0;  ///< number of the load whose turn it is; 0: nobody's
  TimePoint since_;
};

/// What a device pretends to have.
struct ImitatedProcessor {
  double speed =
      0;  ///< as SlowProcessor; of a steady one in times of the plain engine on a core here
  /// What shards have their SteadyPace from; null: it is as fast as this machine lets it.
  std::shared_ptr<OperatorPaces> paces{};
};

/// Threads: any. Loads take turns.
class ShardCache {
 public:
  struct Loaded {
    std::shared_ptr<LoadedShard> shard;
    bool was_loaded = false;
  };
  struct Entry {
    std::shared_ptr<LoadedShard> shard;
    std::uint32_t users = 0;
  };

  /// memory_limit_bytes: what all shards together may take; 0 = what the machine has available.
  ShardCache(RunnerFactory factory, runtime::WeightSource weights, std::uint64_t memory_limit_bytes,
             MemoryProbe memory = read_memory, const ImitatedProcessor& imitated = {},
             std::shared_ptr<WorkWatch> watch = std::make_shared<WorkWatch>(WorkLimits()));

  /// Counted: each load wants one unload. The same shard with the same settings is loaded once; when it comes back after its unload,
  /// engines are not held against each other again, nor those that lost each time for shards like it (engine_history.h). Fails: kExhausted (needed, limit and
  /// free named, checked before anything is loaded), kTimeout (at the deadline, or when the watch's limit has passed), and as
  /// ShardRunner::load and OperatorPaces do.
  Expected<Loaded> load(const plan::Shard& shard, const runtime::RunnerOptions& options,
                        Deadline deadline = std::nullopt);
  /// The memory is free once the stages that still run it are closed, too, or run another. Fails: kNotFound.
  Expected<> unload(const std::string& handle);
  /// Fails: kNotFound.
  Expected<std::shared_ptr<LoadedShard>> find(const std::string& handle) const;
  std::vector<Entry> entries() const;

  /// What all shards together take of this process's memory, stages that still run unloaded ones included. Packed weights count once.
  std::uint64_t memory_bytes() const { return memory_bytes(memory_()); }
  std::uint64_t memory_limit_bytes() const { return *limit_; }
  /// Counts for shards loaded from now on.
  void set_memory_limit(std::uint64_t bytes) { *limit_ = bytes; }

 private:
  /// Of a shard that was loaded before.
  struct Known {
    std::string engine;                                           ///< that was kept
    runtime::Precision precision = runtime::Precision::kFloat32;  ///< that it computes in
    std::string precision_reason;                                 ///< as LoadReport's
    std::optional<SteadyPace> pace;                               ///< as LoadedShard's
  };

  /// Loads what is not loaded yet. `stop`: as RunnerOptions has it, and of the shard from then on.
  Expected<Loaded> load_anew(const plan::Shard& shard, const runtime::RunnerOptions& options,
                             const std::string& key, const WorkWatch::StopFlag& stop);
  /// Counts one more user. With mutex_ held.
  std::optional<Loaded> find_loaded(const std::string& key);
  Expected<> check_memory(const plan::Shard& shard, std::uint64_t needed,
                          const MemoryReading& reading) const;
  std::uint64_t memory_bytes(const MemoryReading& reading) const;
  std::optional<Known> known_of(const std::string& key) const;
  /// As asked; in place of "auto" the engine that was kept before, or without those that are hopeless. For as long as the others live.
  runtime::RunnerOptions with_what_is_known(const std::optional<Known>& known,
                                            const plan::Shard& shard,
                                            const runtime::RunnerOptions& asked) const;

  const RunnerFactory factory_;
  const std::shared_ptr<SlowProcessor> processor_;  ///< of all shards
  const std::shared_ptr<OperatorPaces> paces_;      ///< the same; null: not steady
  const runtime::WeightSource weights_;
  const MemoryProbe memory_;
  // Shared with the shards' accounts, which may outlive the cache.
  const std::shared_ptr<std::atomic<std::uint64_t>> in_use_;
  const std::unique_ptr<std::atomic<std::uint64_t>> limit_;
  const std::shared_ptr<WorkWatch> watch_;
  LoadTurns turns_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> by_key_;
  EngineHistory history_;
  std::map<std::string, Known> known_;  ///< by key
  std::uint64_t loads_ = std::
      random_device()();  ///< counts them; a handle of a daemon that ran before is none of this one
};

}  // namespace pareto::daemon
