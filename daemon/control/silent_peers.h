// Peers that connected over TLS and made no call. Most often their handshake failed, which gRPC
// does not report.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/transport/address.h"

namespace pareto::daemon {

/// Connections by the peer's port, until their first call. Threads: any.
class SilentPeers {
 public:
  /// The time that a peer has for its first call.
  static constexpr std::chrono::seconds kPatience{10};
  /// A host is reported at most once in this time.
  static constexpr std::chrono::seconds kBetween{60};
  /// Connections, and hosts, that are remembered; more are left out.
  static constexpr std::size_t kMost = 4096;

  /// `address`: "10.0.0.1:4711".
  void connected(const std::string& address, TimePoint now) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < kMost) waiting_[port_of(address)] = {transport::host_of(address), now};
  }
  /// `peer`: as gRPC writes it, "ipv4:10.0.0.1:4711".
  void heard(const std::string& peer) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(port_of(peer));
  }

  struct Report {
    std::string host;
    int connections = 0;  ///< since its last report
  };
  /// Returns the hosts whose connections made no call in time.
  std::vector<Report> reports(TimePoint now) {
    const std::lock_guard lock(mutex_);
    if (hosts_.size() >= kMost) hosts_.clear();
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (now - it->second.since < kPatience) {
        ++it;
        continue;
      }
      ++hosts_[it->second.host].connections;
      it = waiting_.erase(it);
    }
    std::vector<Report> reports;
    for (auto& [host, seen] : hosts_) {
      if (seen.connections == 0 || (seen.told && now - *seen.told < kBetween)) continue;
      reports.push_back({host, seen.connections});
      seen = {0, now};
    }
    return reports;
  }

 private:
  struct Connection {
    std::string host;
    TimePoint since{};
  };
  struct Host {
    int connections = 0;
    Deadline told{};  ///< when it was reported last; no value: never
  };
  static std::string port_of(const std::string& address) {
    return address.substr(address.rfind(':') + 1);
  }

  std::mutex mutex_;
  std::map<std::string, Connection> waiting_;
  std::map<std::string, Host> hosts_;
};

}  // namespace pareto::daemon
