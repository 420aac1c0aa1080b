// Shards loaded on this device, each once however many pipelines use it.
//
//   LoadShard --memory check--> RunnerFactory (weights from the TensorStore) --> LoadedShard
//                                                                       --shared by--> Stages
#pragma once

#include <atomic>
#include <cstdint>
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
#include "daemon/stage/engine_history.h"
#include "daemon/stage/load_turns.h"
#include "daemon/stage/loaded_shard.h"
#include "daemon/stage/memory.h"
#include "daemon/stage/work_watch.h"
#include "runtime/runner_factory.h"

namespace pareto::daemon {

/// The shards of this device. Loads take turns.
///
/// Threads: any.
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

  /// All shards together may take `memory_limit_bytes`; 0 means what the machine has available.
  ShardCache(runtime::RunnerFactory factory, runtime::WeightSource weights,
             std::uint64_t memory_limit_bytes, MemoryProbe memory = read_memory,
             std::shared_ptr<WorkWatch> watch = std::make_shared<WorkWatch>(WorkLimits()));

  /// Loads a shard, or counts one more user of it if it is loaded with the same settings: each load
  /// wants one unload. If it comes back after its unload, engines are not held against each other
  /// again. Those that lost each time for shards like it are not tried (engine_history.h). Fails:
  /// kInvalidArgument (batch); kExhausted (needed, limit and free named, before anything is
  /// loaded); kTimeout (the deadline, or the watch's limit); and as the factory does.
  Expected<Loaded> load(const plan::Shard& shard, const runtime::RunnerOptions& options,
                        Deadline deadline = std::nullopt);
  /// Counts one user less. The memory of a shard without users is free once the stages that still
  /// run it are closed or run another. Fails: kNotFound.
  Expected<> unload(const std::string& handle);
  /// Returns the shard of that handle. Fails: kNotFound.
  Expected<std::shared_ptr<LoadedShard>> find(const std::string& handle) const;
  std::vector<Entry> entries() const;

  /// Returns the memory of this process that all shards take, in bytes. Shards that are unloaded
  /// but still run count. Packed weights count once.
  std::uint64_t memory_bytes() const { return memory_bytes(memory_()); }
  std::uint64_t memory_limit_bytes() const { return *limit_; }
  /// Limits the shards that are loaded from now on.
  void set_memory_limit(std::uint64_t bytes) { *limit_ = bytes; }
  /// Limits the memory of each run of the shards that are loaded from now on. 0 means half of what
  /// the machine has.
  void set_request_memory(std::uint64_t bytes) { *request_limit_ = bytes; }

 private:
  /// Results of an earlier load of a shard, as in LoadReport.
  struct Known {
    std::string engine;
    runtime::Precision precision = runtime::Precision::kFloat32;
    std::string precision_reason;
    std::string schedule;
    std::string schedule_reason;
  };

  /// Loads what is not loaded yet. The runner obeys `stop`, now and from then on.
  Expected<Loaded> load_anew(const plan::Shard& shard, const runtime::RunnerOptions& options,
                             const std::string& key, const WorkWatch::StopFlag& stop);
  /// Returns the shard and counts one more user. The caller holds mutex_.
  std::optional<Loaded> find_loaded(const std::string& key);
  Expected<> check_memory(const plan::Shard& shard, std::uint64_t needed,
                          const MemoryReading& reading) const;
  std::uint64_t memory_bytes(const MemoryReading& reading) const;
  std::optional<Known> known_of(const std::string& key) const;
  /// Returns what was asked, but instead of "auto" the engine that was kept before, or without
  /// those that are hopeless. `known`, `shard` and `asked` outlive what is returned.
  runtime::RunnerOptions with_what_is_known(const std::optional<Known>& known,
                                            const plan::Shard& shard,
                                            const runtime::RunnerOptions& asked) const;

  const runtime::RunnerFactory factory_;
  const runtime::WeightSource weights_;
  const MemoryProbe memory_;
  // Shared with the shards' accounts, which may outlive the cache.
  const std::shared_ptr<std::atomic<std::uint64_t>> in_use_;
  const std::unique_ptr<std::atomic<std::uint64_t>> limit_;
  const std::unique_ptr<std::atomic<std::uint64_t>> request_limit_;
  const std::shared_ptr<WorkWatch> watch_;
  LoadTurns turns_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> by_key_;
  EngineHistory history_;
  std::map<std::string, Known> known_;  ///< under their keys
  /// Number of loads. It begins anywhere: no handle is one of a daemon that ran before.
  std::uint64_t loads_ = std::random_device()();
};

}  // namespace pareto::daemon
