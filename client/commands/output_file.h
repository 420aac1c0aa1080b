// Files that commands write at their end.
#pragma once

#include <filesystem>

#include "core/base/error.h"

namespace pareto::client::commands {

/// Checks, before minutes of work, whether there is a folder for the file that `flag` names, and
/// whether this user may write there. Fails: kInvalidArgument, kNotFound, kPermission, each naming
/// the flag.
Expected<> check_writable(const char* flag, const std::filesystem::path& path);

}  // namespace pareto::client::commands
