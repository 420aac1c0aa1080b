// The daemon that tests start as a process of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pareto::test {

/// Returns the arguments of a daemon that serves on ports of loopback that the system picks, and
/// says on stdout when it is ready; then `more`.
std::vector<std::string> paretod_arguments(const std::string& name,
                                           const std::filesystem::path& state_dir,
                                           const std::vector<std::string>& more);

}  // namespace pareto::test
