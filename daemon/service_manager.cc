#include "daemon/service_manager.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pareto::daemon {
namespace {

std::int64_t microseconds(Nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// That nobody can be told changes nothing in what the daemon does.
void tell(const std::string& message) { static_cast<void>(::sd_notify(0, message.c_str())); }

/// Returns a line of its own in a message.
std::string status_line(std::string status) {
  std::ranges::replace(status, '\n', ' ');
  return "STATUS=" + status;
}

}  // namespace

ServiceManager::ServiceManager() {
  std::uint64_t patience_us = 0;
  if (::sd_watchdog_enabled(0, &patience_us) > 0) {
    alive_every_ = std::chrono::microseconds(patience_us) / 4;
  }
}

void ServiceManager::alive(const std::string& status) const {
  if (alive_every_) tell("WATCHDOG=1\n" + status_line(status));
}

void ServiceManager::ready(const std::string& status) const {
  tell("READY=1\n" + status_line(status));
}

void ServiceManager::reloading() const {
  // steady_clock is CLOCK_MONOTONIC, which systemd compares this with.
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=reading the configuration again",
                   microseconds(now)));
}

void ServiceManager::stopping(Nanoseconds patience) const {
  tell(fmt::format("STOPPING=1\nEXTEND_TIMEOUT_USEC={}\nSTATUS=finishing what is in flight",
                   microseconds(patience)));
}

}  // namespace pareto::daemon
