// How coordinators use a device, and who uses it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace pareto::control {

/// The longest time between two requests of a coordinator that beats.
inline constexpr Nanoseconds kBeat = std::chrono::seconds(1);
/// The time for which a session lasts without a request: some beats may come late, or not at all.
/// Devices are free five seconds after their coordinator is gone, with the time to close stages.
inline constexpr Nanoseconds kLease = std::chrono::seconds(4);
/// The lease in terms of the slowest answer to a beat, on links that are slower than that.
inline constexpr int kLeaseOverSlowest = 8;
inline constexpr Nanoseconds kLongestLease = std::chrono::seconds(60);
/// The longest name of a lease, command or user, in bytes.
inline constexpr std::size_t kLongestName = 128;

/// Returns the time without a sign of life after which one side gives up the other. `slowest`: the
/// slowest of the last answers.
Nanoseconds lease_for(Nanoseconds slowest);

/// The use that a coordinator makes of a device.
struct DeviceUse {
  bool exclusive = false;     ///< no other program may use it meanwhile
  std::string command{};      ///< "sweep"
  std::string user{};         ///< "lab on desk"
  std::uint64_t program = 0;  ///< sessions of one program do not exclude each other; 0: not known
  std::string lease{};        ///< name of what one program at a time does; empty: nothing
  std::uint64_t term = 0;     ///< the term of the lease, from 1; 0: not chosen yet
  bool waits = false;         ///< it waits for its turn
  bool operator==(const DeviceUse&) const = default;
};

/// A program that uses a device.
struct Holder {
  std::string who;  ///< "coordinator laptop" by its certificate, else as it says
  std::string command{};
  bool exclusive = false;
  Nanoseconds since{};  ///< time for which it has used the device
  std::string lease{};
  std::uint64_t term = 0;
};

/// Returns "deploy of lab on desk (since 3 min)".
std::string to_string(const Holder& holder);
/// Returns the first of them and how many more there are: "sweep of lab (since 8 s) and 1 other".
/// There is at least one.
std::string to_string(const std::vector<Holder>& holders);

}  // namespace pareto::control
