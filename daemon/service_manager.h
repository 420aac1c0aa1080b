// systemd, where it started this process: it is told when the daemon serves, reads its settings
// again, stops, and that it is alive.
#pragma once

#include <optional>
#include <string>

#include "core/base/clock.h"

namespace pareto::daemon {

/// A line to the service manager. If NOTIFY_SOCKET is not set every call does nothing
/// (sd_notify(3)). A status is one line for people, shown by systemctl.
///
/// Threads: one owner: the main loop, so that its silence tells of a main loop that hangs.
class ServiceManager {
 public:
  /// Takes the settings from this process's environment.
  ServiceManager();

  /// Returns how often it is to be told alive(): a quarter of the time after which it restarts this
  /// process. No value means that it does not watch.
  std::optional<Nanoseconds> alive_every() const { return alive_every_; }
  /// Does nothing where it does not watch.
  void alive(const std::string& status) const;

  /// Tells that the daemon serves: for the first time, or again after reloading().
  void ready(const std::string& status) const;
  void reloading() const;
  /// Tells that the process ends within `patience`. It gets this time even if the unit allows less.
  void stopping(Nanoseconds patience) const;

 private:
  std::optional<Nanoseconds> alive_every_;
};

}  // namespace pareto::daemon
