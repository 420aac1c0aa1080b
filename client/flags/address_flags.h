// Flags that name the daemons to look at: an inventory, a test bed, or addresses.
#pragma once

#include <string>
#include <vector>

#include "client/command.h"
#include "client/flags/credential_flags.h"
#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"

namespace pareto::client {

struct AddressFlags {
  std::string inventory;
  std::string testbed;
  std::vector<std::string> addresses;
  CredentialFlags credentials;

  /// Adds the flag. `otherwise`: what is looked at where none is given.
  void add_to(CLI::App& app, const std::string& otherwise);
  /// Adds --testbed for commands that need only the control sockets of its devices: their networks
  /// are their own.
  void add_testbed_to(CLI::App& app);
  /// If nothing was given, takes the devices of the environment (PARETO_DEVICES).
  void settle(const Context& context);
  bool given() const { return !inventory.empty() || !testbed.empty() || !addresses.empty(); }
  /// Returns the devices of the inventory, of the test bed, then those of the addresses, called as
  /// these. Fails: as read_inventory and find_testbed; kInvalidArgument (an address without a port,
  /// one twice, a test bed that is not up).
  Expected<std::vector<cluster::DeviceConfig>> read(const Context& context) const;
};

}  // namespace pareto::client
