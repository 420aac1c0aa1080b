// Shards and stages that each coordinator has loaded and opened on this device. All of them go when
// the coordinator goes, in whatever way it goes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_host.h"

namespace pareto::daemon {

/// Session 0 is nobody's: what is loaded and opened in it stays until somebody asks otherwise.
///
/// Threads: any.
class SessionTable {
 public:
  /// Makes a table. Both outlive it.
  SessionTable(ShardCache& shards, StageHost& stages) : shards_(shards), stages_(stages) {}

  /// Begins a session. `cancel` makes the thread that waits for the session's end call end(); it
  /// may be called until then. Fails: kClosed (after cancel_all).
  Expected<std::uint64_t> begin(std::function<void()> cancel);
  /// Closes the session's stages and unloads its shards.
  void end(std::uint64_t session);
  /// Cancels every session; none begins any more.
  void cancel_all();

  /// Fails: kUnavailable (the session has ended, so nobody would ever unload it).
  Expected<> check(std::uint64_t session) const;
  Expected<> hold_shard(std::uint64_t session, const std::string& handle);
  Expected<> hold_stage(std::uint64_t session, std::uint64_t pipeline, std::uint32_t stage);
  /// Fails: kNotFound (the session holds no such shard).
  Expected<> release_shard(std::uint64_t session, const std::string& handle);
  void release_stage(std::uint64_t pipeline, std::uint32_t stage);

  struct Company {
    std::uint32_t coordinators = 0;
    std::uint32_t pipelines = 0;
  };
  /// Returns the sessions other than that one that hold stages, and the number of pipelines that
  /// these belong to.
  Company company(std::uint64_t session) const;

 private:
  using StageKey = std::pair<std::uint64_t, std::uint32_t>;
  struct Session {
    std::function<void()> cancel;
    std::vector<std::string> shards;  ///< one a load
    std::vector<StageKey> stages;
  };
  Expected<> check_locked(std::uint64_t session) const;

  ShardCache& shards_;
  StageHost& stages_;
  mutable std::mutex mutex_;
  bool closing_ = false;
  std::mt19937_64 numbers_{
      std::random_device()()};  ///< those of a daemon that ran before are none of this one
  std::map<std::uint64_t, Session> sessions_;
};

}  // namespace pareto::daemon
