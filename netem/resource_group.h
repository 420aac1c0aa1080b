// A limit of memory for a few processes: how a large machine imitates a small device.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace pareto::netem {

/// A control group, version 1 or 2, below "pareto-edge" in the machine's trees. It outlives the
/// process that made it if that is killed: remove_groups() finds it again by its name.
///
/// Threads: one owner.
class ResourceGroup {
 public:
  /// Creates a group with a `name` like "two-pi4/pi-1". A group that is there already is made empty
  /// and used. Beyond `memory_bytes` the kernel ends a process of it; 0 means no limit, and no
  /// group. Fails: kPermission (root is needed), kUnavailable (no control groups here).
  static Expected<ResourceGroup> create(const std::string& name, std::uint64_t memory_bytes);
  /// Ends what is still in it (SIGKILL), and removes it.
  ~ResourceGroup();
  ResourceGroup(ResourceGroup&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  ResourceGroup& operator=(ResourceGroup&&) = delete;

  /// Adds the process with all its threads, and all it starts from now on. Fails: kNotFound (it has
  /// ended), kPermission.
  Expected<> add(pid_t process);

 private:
  ResourceGroup() = default;
  std::filesystem::path folder_;  ///< empty: no limit
};

/// Removes a group and all below it, ending what is still in them: what was left behind as
/// "two-pi4". Fails: kUnavailable (something could not be removed).
Expected<> remove_groups(const std::string& name);

}  // namespace pareto::netem
