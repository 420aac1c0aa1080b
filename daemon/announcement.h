// This daemon's name on its network, announced by Avahi to those who look for daemons (`paretoctl
// discover`). A hint and no more: nothing depends on it, and while there is no system bus or no
// Avahi nothing is announced.
//
//   pi-1._pareto-edge._tcp.local  SRV  the host and the control service's port
//                                 TXT  "version=0.1.0" of the daemon, "name=pi-1" of the device
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pareto::daemon {

struct AnnouncedService {
  std::string name;  ///< name of the device
  std::uint16_t port = 0;
  std::string interface;  ///< the only one that it is served on; empty: all
};

/// Returns what is to be announced of a control service at `address`; none if only this machine
/// reaches it.
std::optional<AnnouncedService> announced_service(const std::string& name,
                                                  const std::string& address);

/// Announces the service on the network as long as this lives. If its name is taken, it takes
/// another one ("pi-1 #2"). It announces again whenever Avahi or the bus is started again. What
/// fails is tried again, at last once a minute. The log tells that it is announced, or refused.
/// That no Avahi is there is logged only at debug level.
///
/// Threads: one owner; one of its own talks to Avahi.
class Announcement {
 public:
  explicit Announcement(AnnouncedService service);
  /// Takes it back; within a few seconds, should Avahi hang.
  ~Announcement();
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::daemon
