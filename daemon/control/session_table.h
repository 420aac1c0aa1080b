// Shards and stages that each coordinator has loaded and opened on this device. Nobody else may
// use, change or end them. They go when the coordinator goes, in whatever way it goes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "daemon/control/caller.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_host.h"

namespace pareto::daemon {

/// Sessions by number. A number is random and told only to the caller who began the session. A
/// caller with a certificate has to show the same one's name at each call.
///
/// Threads: any.
class SessionTable {
 public:
  static constexpr std::size_t kMostSessions = 256;
  static constexpr std::size_t kMostSessionsOfOne = 64;  ///< sessions of one name, or one host
  static constexpr std::size_t kMostShards = 1024;       ///< loads that one session holds
  static constexpr std::size_t kMostStages = 256;        ///< stages that one session holds
  static constexpr std::size_t kMostPeers = 1024;        ///< addresses that one session names

  /// Makes a table. Both outlive it.
  SessionTable(ShardCache& shards, StageHost& stages) : shards_(shards), stages_(stages) {}

  /// Begins a session. `cancel` makes the thread that waits for the session's end call end(); it
  /// may be called until then. Fails: kClosed (after cancel_all), kExhausted (too many).
  Expected<std::uint64_t> begin(const Caller& owner, std::function<void()> cancel);
  /// Closes the session's stages and unloads its shards.
  void end(std::uint64_t session);
  /// Cancels the sessions of such owners.
  void cancel_if(const std::function<bool(const Caller&)>& is_such);
  /// Cancels every session; none begins any more.
  void cancel_all();

  /// Checks that a session is open and that caller's. Fails: kUnavailable (it has ended, so nobody
  /// would ever unload what it loads; or there was none), kPermission (it is another's).
  Expected<> check(std::uint64_t session, const Caller& caller) const;

  /// Names the addresses that links may be opened to. Fails: kExhausted (too many), as check().
  Expected<> name_peers(std::uint64_t session, std::vector<std::string> addresses);
  /// Fails: kPermission (the session has not named that address), as check().
  Expected<> check_peer(std::uint64_t session, const std::string& address) const;

  /// Counts one more load of a shard. Fails: kExhausted, and as check().
  Expected<> hold_shard(std::uint64_t session, const std::string& handle);
  /// Counts one load less. Fails: as check_shard().
  Expected<> release_shard(std::uint64_t session, const std::string& handle);
  /// Checks that the session holds a shard. Fails: kPermission (another does), kNotFound.
  Expected<> check_shard(std::uint64_t session, const std::string& handle) const;

  Expected<> hold_stage(std::uint64_t session, std::uint64_t pipeline, std::uint32_t stage);
  void release_stage(std::uint64_t session, std::uint64_t pipeline, std::uint32_t stage);
  /// Checks that the session holds a stage. Fails: kPermission (another does), kNotFound.
  Expected<> check_stage(std::uint64_t session, std::uint64_t pipeline, std::uint32_t stage) const;

  /// Handles of shards, and names of stages, that a session holds.
  struct Holdings {
    std::set<std::string> shards;
    std::set<std::pair<std::uint64_t, std::uint32_t>> stages;
  };
  Holdings holdings(std::uint64_t session) const;

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
    Caller owner;
    std::function<void()> cancel;
    std::vector<std::string> shards;  ///< one a load
    std::set<StageKey> stages;
    std::set<std::string> peers;
  };
  /// Returns an open session. mutex_ is held. Fails: kUnavailable.
  Expected<const Session*> find(std::uint64_t session) const;
  Expected<Session*> find(std::uint64_t session);
  /// Does what check_shard() does. mutex_ is held.
  Expected<> check_shard_locked(std::uint64_t session, const std::string& handle) const;

  ShardCache& shards_;
  StageHost& stages_;
  mutable std::mutex mutex_;
  bool closing_ = false;
  std::random_device numbers_;  ///< the operating system's: a number cannot be guessed from others
  std::map<std::uint64_t, Session> sessions_;
};

}  // namespace pareto::daemon
