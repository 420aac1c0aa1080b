// Coordinators that use this device, and the shards and stages that each has loaded and opened.
// Nobody else may use, change or end these. They go when the coordinator goes, in whatever way.
//
// A session that uses the device exclusively excludes those of all other programs. A coordinator
// that waits for its turn has a session too, which holds nothing: turns come in its order.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/device_use.h"
#include "daemon/control/caller.h"
#include "daemon/stage/shard_cache.h"
#include "daemon/stage/stage_host.h"

namespace pareto::daemon {

/// Sessions by number. A number is random and told only to the caller who began the session. A
/// caller with a certificate has to show the same one's name at each call. It has more than 20
/// methods: one for each thing that a session owns or asks.
///
/// Threads: any.
class SessionTable {
 public:
  static constexpr std::size_t kMostSessions = 256;
  static constexpr std::size_t kMostSessionsOfOne = 64;  ///< sessions of one name, or one host
  static constexpr std::size_t kMostShards = 1024;       ///< loads that one session holds
  static constexpr std::size_t kMostStages = 256;        ///< stages that one session holds
  static constexpr std::size_t kMostPeers = 1024;        ///< addresses that one session names
  static constexpr std::size_t kLongestPeer = 512;       ///< bytes of such an address
  static constexpr std::size_t kMostTerms = 1024;        ///< leases whose last term is known
  static constexpr std::size_t kMostEnded = 256;  ///< sessions of which it is known why they ended

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
  /// Checks that no session of somebody else uses the device exclusively: for calls that belong to
  /// no session and take processor time, or change the network. Fails: kUnavailable.
  Expected<> check_not_excluded(const Caller& caller) const;

  /// A request of a coordinator.
  struct Attendance {
    std::vector<std::string> peers;  ///< addresses that links may be opened to
    bool beats = false;              ///< it sends a request at least every control::kBeat
    control::DeviceUse use;
    Nanoseconds slowest{};  ///< the slowest of the last answers
  };
  struct Turn {
    bool granted = false;
    std::vector<control::Holder> before;  ///< those that it waits for
    std::uint64_t term = 0;               ///< the last known term of its lease
  };
  /// Hears a coordinator, and gives it the device if it is its turn. Fails: kExhausted (too many
  /// addresses, or too long ones), kUnavailable (others use the device, and it does not wait),
  /// kPermission (the term of its lease is over), as check().
  Expected<Turn> attend(std::uint64_t session, Attendance said, TimePoint now);
  /// Cancels sessions that beat and have not been heard for the time of their lease. `stood_still`:
  /// how long nobody was heard because this process did not run.
  void judge(TimePoint now, Nanoseconds stood_still);
  /// Returns the other programs that use the device, those first that have used it longest.
  std::vector<control::Holder> holders(std::uint64_t session, TimePoint now) const;

  /// Checks that the session named the device at that address. Fails: kPermission (the session has
  /// not named that address), as check().
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
    std::optional<control::DeviceUse> use{};  ///< none until it has said anything
    bool granted = false;
    TimePoint since{};        ///< when it began to use the device, or to wait
    std::uint64_t order = 0;  ///< its place in the queue of those that wait
    bool beats = false;
    TimePoint heard{};
    Nanoseconds lease = control::kLease;
    std::string why{};  ///< why it is being ended; empty: its coordinator left
  };
  struct Term {
    std::uint64_t number = 0;
    std::uint64_t program = 0;
    std::uint64_t order = 0;  ///< when it began, among all
  };
  /// Returns an open session. mutex_ is held. Fails: kUnavailable.
  Expected<const Session*> find(std::uint64_t session) const;
  Expected<Session*> find(std::uint64_t session);
  /// Checks that the term of a lease is not over. mutex_ is held. Fails: kPermission.
  Expected<> check_term(const control::DeviceUse& use) const;
  /// Returns those that keep a session from a use. mutex_ is held.
  std::vector<control::Holder> before(std::uint64_t number, const Session& session,
                                      const control::DeviceUse& use, TimePoint now) const;
  /// Notes the term of a lease. mutex_ is held.
  void begin_term(const control::DeviceUse& use);
  std::uint64_t last_term(const std::string& lease) const;
  /// Does what check_shard() does. mutex_ is held.
  Expected<> check_shard_locked(std::uint64_t session, const std::string& handle) const;

  ShardCache& shards_;
  StageHost& stages_;
  mutable std::mutex mutex_;
  bool closing_ = false;
  std::random_device numbers_;  ///< the operating system's: a number cannot be guessed from others
  std::map<std::uint64_t, Session> sessions_;
  std::deque<std::pair<std::uint64_t, std::string>> ended_;  ///< the last ones that were ended: why
  std::map<std::string, Term> terms_;                        ///< by name of the lease
  std::uint64_t next_order_ = 1;
};

}  // namespace pareto::daemon
