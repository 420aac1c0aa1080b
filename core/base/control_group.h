// Locations of Linux's control groups, version 1 or 2. They limit the memory of a group of
// processes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto {

/// A controller's tree of groups.
struct ControllerTree {
  std::filesystem::path root;
  int version = 2;  ///< 1: a tree for each controller; 2: one for all
};

/// Finds the controller "cpu" or "memory". Fails: kUnavailable (this machine or container has
/// none).
Expected<ControllerTree> find_controller(std::string_view controller);
/// Finds the same of a table of mounts in the form of /proc/self/mountinfo; files of a tree are
/// read where it says.
Expected<ControllerTree> find_controller(std::string_view controller, std::string_view mounts);

/// Finds the group of this process in a tree; its root where the group is not to be seen from here.
std::filesystem::path own_control_group(const ControllerTree& tree, std::string_view controller);

}  // namespace pareto
