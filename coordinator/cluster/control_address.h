// Address of a daemon's control service, as people write it.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// Checks HOST:PORT, a file (unix:/…), or a service that DNS knows (srv:…). Fails: kInvalidArgument
/// naming it.
Expected<> check_control_address(const std::string& address);

/// Returns whether the value of --devices lists addresses ("10.0.0.1:7070,10.0.0.2:7070");
/// otherwise it names an inventory.
bool names_addresses(const std::string& devices);

/// Reads the value of --devices: an inventory, or addresses. A device without an inventory is named
/// as its host, or as its whole address if two have one host. Fails: as read_inventory;
/// kInvalidArgument naming an address.
Expected<std::vector<DeviceConfig>> read_devices(const std::string& devices);

/// Returns "pi-1 (192.168.1.20:7070)", or only the address if that is the name too.
std::string name_and_address(const DeviceConfig& device);

}  // namespace pareto::cluster
