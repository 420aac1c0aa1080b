// The flags for where a command runs: --devices and --testbed, --credentials and --insecure, and
// whose turn it is there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/command.h"
#include "client/flags/credential_flags.h"
#include "client/flags/use_flags.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/network.h"
#include "core/base/error.h"

namespace pareto::client {

/// Daemons that are started here if no devices are named and nothing else says how many.
inline constexpr int kLocalDevices = 2;

/// Help text of --devices.
inline constexpr const char* kDevicesHelp =
    "inventory of daemons (configs/inventory.yaml), or their addresses, HOST:PORT,HOST:PORT "
    "(environment: PARETO_DEVICES)";

/// The devices of an inventory that have to answer; the default: all of them.
struct NeededDevices {
  std::vector<std::string>
      names{};            ///< empty: not by name. If the inventory lacks one, all have to
  std::size_t first = 0;  ///< inputs from the beginning, as many as this; 0: all
};

/// The flags for where a command runs.
struct DeviceFlags {
  std::string inventory;
  std::string testbed;
  CredentialFlags credentials;
  UseFlags use;

  /// `without_any`: half a sentence on what is done without devices.
  void add_to(CLI::App& app, DeviceNeed need = DeviceNeed::kShares,
              const std::string& without_any = "daemons are started on this machine");
  /// If neither was given, takes the devices of the environment (PARETO_DEVICES).
  void settle(const Context& context);
  /// Connects to the devices of the inventory or of the test bed and takes them for this command,
  /// or to `count` daemons of this build on loopback. If conditions are to be applied, the daemons
  /// run in network namespaces of this machine.
  /// Fails: as Cluster, UseFlags::take() and open_testbed do; kUnavailable (no paretod to start);
  /// kInvalidArgument (conditions for devices that let nobody change their network).
  Expected<cluster::Cluster> connect(const Context& context, int count,
                                     std::vector<cluster::NamedCondition> conditions = {},
                                     const NeededDevices& needed = {}) const;
  /// Connects as connect() does, and takes no device: the caller does that.
  Expected<cluster::Cluster> connect_only(const Context& context, int count,
                                          std::vector<cluster::NamedCondition> conditions = {},
                                          const NeededDevices& needed = {}) const;
  /// Returns whether others may use the devices too: they were named.
  bool are_shared() const { return !inventory.empty() || !testbed.empty(); }
  /// Returns ChosenTestbed::content; "" where none is named. Fails: as find_testbed.
  Expected<std::string> testbed_content() const;
};

/// Returns what is wrong with the value of --devices, for a parser: it is empty. No device is not
/// the same as no flag.
std::string check_names_devices(const std::string& text);

}  // namespace pareto::client
