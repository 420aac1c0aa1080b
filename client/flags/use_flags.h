// The flags for whose turn it is on devices that several people use: --wait and --share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/command.h"
#include "coordinator/cluster/cluster.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/device_use.h"

namespace pareto::client {

/// The needs of commands.
enum class DeviceNeed {
  kLooks,     ///< it only asks them
  kShares,    ///< it works next to others
  kMeasures,  ///< others would change what it measures
};

struct UseFlags {
  DeviceNeed need = DeviceNeed::kShares;
  std::string command{};  ///< the name that others are told: "sweep"
  std::optional<std::string> wait{};
  bool share = false;
  // What only one program at a time does, as deploy --log names it.
  std::string lease{};
  std::uint64_t term = 0;
  std::uint64_t program =
      0;  ///< a random number of this program; 0: it is chosen when it is needed

  /// Adds the flags that fit the need of the command.
  void add_to(CLI::App& app, DeviceNeed of_command);
  /// Returns --wait; no value: it was not given. Fails: kInvalidArgument.
  Expected<std::optional<Nanoseconds>> read_wait() const;
  /// Takes the devices for this command, and waits for them if --wait says so. Returns the last
  /// known term of the lease. Fails: as Cluster::take(), with the remedy; kInvalidArgument.
  Expected<std::uint64_t> take(const Context& context, cluster::Cluster& cluster);
};

/// Returns who runs this program, for others who use the same devices: "lab on desk".
std::string this_user();

/// Returns a random number that is not 0.
std::uint64_t random_program();

}  // namespace pareto::client
