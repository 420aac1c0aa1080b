#include "daemon/control/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

/// Returns whether the file of that name is the opened one: its last owner may have removed that.
bool is_still_there(const std::filesystem::path& file, const FileDescriptor& opened) {
  struct stat by_name {};
  struct stat by_descriptor {};
  return ::lstat(file.c_str(), &by_name) == 0 && ::fstat(opened.get(), &by_descriptor) == 0 &&
         by_name.st_ino == by_descriptor.st_ino && by_name.st_dev == by_descriptor.st_dev;
}

}  // namespace

Expected<std::optional<LockFile>> LockFile::try_take(const std::filesystem::path& file) {
  for (;;) {
    FileDescriptor opened(
        ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!opened) {
      return fail(ErrorCode::kPermission, "{}",
                  error_from_errno(errno, "making the lock " + file.string()).message);
    }
    if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    if (is_still_there(file, opened)) return LockFile(file, std::move(opened));
  }
}

LockFile::LockFile(std::filesystem::path file, FileDescriptor locked)
    : file_(std::move(file)), locked_(std::move(locked)) {}

LockFile::LockFile(LockFile&& other) noexcept
    : file_(std::exchange(other.file_, {})), locked_(std::move(other.locked_)) {}

LockFile::~LockFile() {
  // While it is locked: nobody else has this one yet.
  if (!file_.empty()) ::unlink(file_.c_str());
}

}  // namespace pareto::daemon
