#include "client/commands/output_file.h"

#include <unistd.h>

#include <cerrno>

#include "core/base/file.h"

namespace pareto::client::commands {

Expected<> check_writable(const char* flag, const std::filesystem::path& path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    return fail(ErrorCode::kInvalidArgument, "{} {}: is a folder: name a file in it", flag,
                path.string());
  }
  std::error_code absent;
  const bool is_device = std::filesystem::is_other(path, absent);
  // What is no file, as /dev/stdout, is written to and not replaced.
  const auto folder = is_device ? path : std::filesystem::absolute(path).parent_path();
  if (::access(folder.c_str(), W_OK) == 0) return {};
  return tl::unexpected(
      error_from_errno(errno, fmt::format("{} {}: {}", flag, path.string(), folder.string())));
}

}  // namespace pareto::client::commands
