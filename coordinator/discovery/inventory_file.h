// An inventory (configs/inventory.yaml) of devices that were found: a beginning for a person to go
// on with.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "coordinator/discovery/service_finder.h"
#include "core/base/error.h"

namespace pareto::discovery {

/// Writes an inventory that read_inventory() reads, with a comment of what else is known of each
/// device.
std::string inventory_text(std::span<const FoundDevice> devices);

/// Checks that a new file can be made at this path. Fails: kInvalidArgument (there is something at
/// this path already).
Expected<> check_new_file(const std::filesystem::path& path);
/// Writes inventory_text() to a new file and never over one. Fails: as check_new_file; kNotFound
/// (no folder), kPermission, kExhausted.
Expected<> write_inventory(const std::filesystem::path& path, std::span<const FoundDevice> devices);

}  // namespace pareto::discovery
