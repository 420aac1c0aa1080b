// Which daemons to look at, of an inventory or by their addresses.
#pragma once

#include <string>
#include <vector>

#include "client/cluster/cluster.h"
#include "client/command.h"
#include "core/base/error.h"

namespace pareto::client {

struct AddressFlags {
  std::string inventory;
  std::vector<std::string> addresses;

  /// otherwise: what is looked at where neither is given.
  void add_to(CLI::App& app, const std::string& otherwise);
  bool given() const { return !inventory.empty() || !addresses.empty(); }
  /// Devices of the inventory, then those of the addresses, called as these. Fails: as read_inventory; kInvalidArgument (an address
  /// without a port, one twice).
  Expected<std::vector<DeviceConfig>> read() const;
};

}  // namespace pareto::client
