// The folder of what a user's running programs tell each other.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "core/base/error.h"

namespace pareto::client::commands {

/// Returns "…/pareto-edge" below `runtime_dir` ($XDG_RUNTIME_DIR; null or "": not set), below
/// /run/user/USER if that is there, else /tmp/pareto-edge-USER.
std::filesystem::path runtime_folder(const char* runtime_dir, uid_t user);
/// Returns that of the user who runs this program.
std::filesystem::path runtime_folder();

/// Makes a folder that only this user may enter, if it is not there. Fails: kPermission (it is
/// somebody else's, a link, or others may enter it), and as the file system does.
Expected<> make_private_folder(const std::filesystem::path& folder);

}  // namespace pareto::client::commands
