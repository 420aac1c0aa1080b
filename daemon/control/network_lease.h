// A condition on one of this device's own network interfaces, for a coordinator. It lasts only
// while the coordinator keeps asking for it. If the coordinator goes, or cannot reach the device
// any more, the interface is restored.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/condition.h"

namespace pareto::daemon {

/// A change that makes an interface worse, as long as it lives; tests have their own.
class InterfaceChange {
 public:
  virtual ~InterfaceChange() = default;
  /// Fails where it is not what was asked for any more.
  virtual Expected<> check() const = 0;
  /// Takes it back, as the destructor does, and fails where the interface is not as before, with
  /// the remedy. Nothing else afterwards.
  virtual Expected<> end() = 0;
};

struct LeaseRequest {
  std::string interface;
  plan::Condition condition;
  std::string name;  ///< name of the condition, for people
  Nanoseconds duration =
      std::chrono::seconds(10);  ///< time until it has to be renewed; longer ones are cut short
  /// Interface that leads to the asking coordinator; empty: not known.
  std::string control_interface;
  bool control_interface_too = false;  ///< even that one
};

struct Lease {
  std::uint64_t number = 0;
  Nanoseconds duration{};  ///< duration as it was granted
};

/// One lease at a time. Threads: any; one of its own ends leases that run out.
class NetworkLease {
 public:
  using Change = std::function<Expected<std::unique_ptr<InterfaceChange>>(const LeaseRequest&)>;

  static constexpr Nanoseconds kLongest = std::chrono::minutes(1);
  /// The longest lease of an interface that carries the coordinator's own calls: below the shortest
  /// time that it waits for an answer.
  static constexpr Nanoseconds kLongestOnControl = std::chrono::seconds(5);

  /// Makes a lease. Not allowed: every request is refused.
  NetworkLease(bool allowed, Change change);
  /// Closes like close().
  ~NetworkLease();
  NetworkLease(const NetworkLease&) = delete;
  NetworkLease& operator=(const NetworkLease&) = delete;

  /// Checks that the device's owner allows changes of its network. Fails: kPermission, with the
  /// remedy.
  Expected<> check_allowed() const;
  /// Checks that this process can change a network at all. Fails: kPermission, with the remedy.
  Expected<> check_able() const;
  /// Changes the network for as long as the lease is renewed. Fails: kPermission (allow_netem is
  /// off; the control interface, unless it is named on purpose), kUnavailable (another has a
  /// lease), kClosed, and as the change does.
  Expected<Lease> take(const LeaseRequest& request);
  /// Renews the lease for the same time again. Fails: kNotFound (it ran out), and as the change's
  /// check does.
  Expected<Lease> renew(std::uint64_t number);
  /// Takes back what was done, and grants no lease any more: kClosed. What cannot be taken back is
  /// told in the log.
  void close();
  /// Ends a lease; one that ran out need not be ended. Fails if the network is not as before, with
  /// the remedy. Even then the lease has ended.
  Expected<> end(std::uint64_t number);

 private:
  void watch(const std::stop_token& stop);
  /// Takes the change back, with the mutex held, while there is a lease. What cannot be taken back
  /// is reported in the log.
  Expected<> take_back();

  const bool allowed_;
  const Change change_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  /// Numbers of leases: those of a daemon that ran before are none of this one.
  std::mt19937_64 numbers_;
  bool closed_ = false;
  std::optional<Lease> lease_;
  TimePoint runs_out_{};
  std::unique_ptr<InterfaceChange> interface_;
  std::jthread watcher_;  // last: it uses all of the above
};

/// Makes the real one: netem/interface_emulation.h.
NetworkLease::Change kernel_change();
/// Takes back what a daemon that was killed left on interfaces; what cannot be is told in the log.
void clear_abandoned_networks();

/// Returns the interface of this device that leads to an address ("10.0.0.1"; IPv4 or IPv6). Fails:
/// kNotFound (none does, or it is a name).
Expected<std::string> interface_towards(const std::string& host);

}  // namespace pareto::daemon
