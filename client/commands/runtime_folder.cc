#include "client/commands/runtime_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/base/file.h"

namespace pareto::client::commands {

namespace fs = std::filesystem;

fs::path runtime_folder(const char* runtime_dir, uid_t user) {
  if (runtime_dir != nullptr && *runtime_dir != '\0') return fs::path(runtime_dir) / "pareto-edge";
  const fs::path of_user = fmt::format("/run/user/{}", user);
  std::error_code absent;
  if (fs::is_directory(of_user, absent)) return of_user / "pareto-edge";
  return fmt::format("/tmp/pareto-edge-{}", user);
}

fs::path runtime_folder() { return runtime_folder(std::getenv("XDG_RUNTIME_DIR"), ::geteuid()); }

Expected<> make_private_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return tl::unexpected(error_from_errno(errno, "making the folder " + folder.string()));
  }
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    return tl::unexpected(error_from_errno(errno, folder.string()));
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) {
    return fail(ErrorCode::kPermission,
                "{}: it is to be a folder of this user that nobody else may enter (mode 0700); "
                "remove it, or set XDG_RUNTIME_DIR to another one",
                folder.string());
  }
  return {};
}

}  // namespace pareto::client::commands
