#include "core/base/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/base/file_descriptor.h"

namespace pareto {

Expected<> flush_folder(const std::filesystem::path& folder) {
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return tl::unexpected(error_from_errno(errno, folder.string()));
  // Some file systems have nothing to flush in a folder, and say so.
  if (::fsync(opened.get()) != 0 && errno != EINVAL) {
    return tl::unexpected(error_from_errno(errno, "flushing " + folder.string()));
  }
  return {};
}

Expected<bool> exchange_folders(const std::filesystem::path& one,
                                const std::filesystem::path& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) {
    return true;
  }
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) return false;
  return tl::unexpected(error_from_errno(errno, "renaming to " + other.string()));
}

}  // namespace pareto
