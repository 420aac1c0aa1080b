#include "core/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

namespace pareto {
namespace {

Expected<> write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return tl::unexpected(error_from_errno(errno, "writing"));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

/// Returns where a link leads, whether or not anything is there yet.
std::filesystem::path followed(std::filesystem::path path) {
  constexpr int kMostLinks = 40;
  std::error_code none;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, none); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, none);
  }
  return path;
}

struct NewFile {
  std::string path;
  FileDescriptor fd;
};

/// Makes a file that nobody else has, next to another. It has `mode` before a byte is in it; no
/// value: what the umask leaves.
Expected<NewFile> make_beside(const std::filesystem::path& target, std::optional<::mode_t> mode) {
  constexpr int kMostAttempts = 100;
  constexpr ::mode_t kOwnerOnly = 0600;
  constexpr ::mode_t kAsUmaskSays = 0666;
  static std::atomic<unsigned> made{0};
  for (int attempt = 1;; ++attempt) {
    std::string path = fmt::format("{}.{}-{}", target.string(), ::getpid(), ++made);
    FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                             mode ? kOwnerOnly : kAsUmaskSays));
    if (fd) {
      // The file stays its owner's if this fails.
      if (mode) static_cast<void>(::fchmod(fd.get(), *mode));
      return NewFile{std::move(path), std::move(fd)};
    }
    if (errno != EEXIST || attempt == kMostAttempts) {
      return tl::unexpected(error_from_errno(errno, target.string()));
    }
  }
}

/// Writes to a pipe or a device, that stays what it is.
Expected<> write_through(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(error_from_errno(errno, path.string()));
  return with_context(write_all(fd.get(), bytes), "{}", path.string());
}

/// Removes this user's folders of that name that no process has.
void remove_abandoned(const std::filesystem::path& place, const std::string& start) {
  constexpr std::size_t kRandomLetters = 6;
  std::error_code ignored;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(place, ignored)) {
    const std::string name = entry.path().filename().string();
    struct stat status {};
    if (name.starts_with(start) && name.size() == start.size() + kRandomLetters &&
        ::lstat(entry.path().c_str(), &status) == 0 && status.st_uid == ::geteuid()) {
      found.push_back(entry.path());
    }
  }
  for (const auto& folder : found) {
    const auto lock = FolderLock::try_take(folder);
    if (lock && *lock) std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace

Error error_from_errno(int errno_value, std::string_view what) {
  ErrorCode code = ErrorCode::kInternal;
  switch (errno_value) {
    case ELOOP:
    case ENAMETOOLONG:
      code = ErrorCode::kInvalidArgument;
      break;
    case ENOENT:
    case ENOTDIR:
      code = ErrorCode::kNotFound;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
    case EADDRINUSE:
      code = ErrorCode::kPermission;
      break;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EFBIG:
      code = ErrorCode::kExhausted;
      break;
    case EADDRNOTAVAIL:
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EPIPE:
      code = ErrorCode::kUnavailable;
      break;
    case ETIMEDOUT:
      code = ErrorCode::kTimeout;
      break;
    default:
      break;
  }
  return Error{code, fmt::format("{}: {}", what, std::generic_category().message(errno_value))};
}

namespace {

/// `only_regular`: refuses pipes and devices, and does not wait until somebody opens their other
/// end.
Expected<std::string> read_whole(const std::filesystem::path& path, std::uint64_t limit_bytes,
                                 bool only_regular) {
  const int no_wait = only_regular ? O_NONBLOCK : 0;
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | no_wait));
  if (fd.get() < 0) return tl::unexpected(error_from_errno(errno, path.string()));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return tl::unexpected(error_from_errno(errno, path.string()));
  }
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is a folder, not a file", path.string());
  }
  if (only_regular && !S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is a pipe or a device, not a file",
                path.string());
  }
  if (static_cast<std::uint64_t>(status.st_size) > limit_bytes) {
    return fail(ErrorCode::kExhausted, "{}: {} bytes, more than the limit of {}", path.string(),
                status.st_size, limit_bytes);
  }
  // Read to the end rather than to the stated size: pipes and /proc files state none.
  std::string content;
  content.reserve(static_cast<std::size_t>(status.st_size));
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(error_from_errno(errno, path.string()));
    if (count == 0) return content;
    content.append(buffer, static_cast<std::size_t>(count));
    if (content.size() > limit_bytes) {
      return fail(ErrorCode::kExhausted, "{}: longer than the limit of {} bytes", path.string(),
                  limit_bytes);
    }
  }
}

}  // namespace

Expected<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  return read_whole(path, limit_bytes, /*only_regular=*/false);
}

Expected<std::string> read_regular_file(const std::filesystem::path& path,
                                        std::uint64_t limit_bytes) {
  return read_whole(path, limit_bytes, /*only_regular=*/true);
}

Expected<> write_file_atomically(const std::filesystem::path& path,
                                 std::span<const std::byte> bytes) {
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is a folder, not a file", path.string());
  }
  if (exists && !S_ISREG(there.st_mode)) return write_through(path, bytes);
  const std::filesystem::path target = followed(path);
  const auto mode = exists ? std::optional<::mode_t>(there.st_mode & 07777) : std::nullopt;
  PARETO_ASSIGN(const NewFile beside, make_beside(target, mode));
  auto written = write_all(beside.fd.get(), bytes);
  if (written && ::fsync(beside.fd.get()) != 0) {
    written = tl::unexpected(error_from_errno(errno, "flushing"));
  }
  if (written && ::rename(beside.path.c_str(), target.c_str()) != 0) {
    written = tl::unexpected(error_from_errno(errno, "renaming"));
  }
  if (!written) ::unlink(beside.path.c_str());
  return with_context(std::move(written), "{}", path.string());
}

Expected<> write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  return write_file_atomically(path, std::as_bytes(std::span(text)));
}

Expected<std::optional<FolderLock>> FolderLock::try_take(const std::filesystem::path& folder) {
  FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return tl::unexpected(error_from_errno(errno, folder.string()));
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    return tl::unexpected(error_from_errno(errno, "locking " + folder.string()));
  }
  // The process that had it before may have removed it meanwhile.
  struct stat locked {};
  struct stat there {};
  if (::fstat(opened.get(), &locked) != 0 || ::lstat(folder.c_str(), &there) != 0 ||
      locked.st_ino != there.st_ino || locked.st_dev != there.st_dev) {
    return fail(ErrorCode::kNotFound, "{}: the folder is gone", folder.string());
  }
  return FolderLock(std::move(opened));
}

Expected<bool> FolderLock::is_taken(const std::filesystem::path& folder) {
  const FileDescriptor opened(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return tl::unexpected(error_from_errno(errno, folder.string()));
  // Shared, so that several may look at the same time.
  if (::flock(opened.get(), LOCK_SH | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  return tl::unexpected(error_from_errno(errno, "locking " + folder.string()));
}

Expected<TemporaryFolder> TemporaryFolder::create(std::string_view prefix) {
  const std::string start = std::string(prefix) + ".";
  std::error_code problem;
  const std::filesystem::path place = std::filesystem::temp_directory_path(problem);
  if (problem) {
    const char* named = std::getenv("TMPDIR");
    return fail(ErrorCode::kNotFound,
                "no folder for temporary files: {}: {}: set TMPDIR to one that is there",
                named == nullptr ? "TMPDIR is not set" : fmt::format("TMPDIR={}", named),
                problem.message());
  }
  remove_abandoned(place, start);
  for (;;) {
    std::string pattern = (place / (start + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      return tl::unexpected(error_from_errno(errno, pattern));
    }
    auto lock = FolderLock::try_take(pattern);
    // In the moment before it was locked, somebody else could take it for abandoned.
    if (lock ? !*lock : lock.error().code == ErrorCode::kNotFound) continue;
    // On a file system without locks nobody takes it for abandoned.
    return TemporaryFolder(pattern, lock ? std::move(*lock) : std::nullopt);
  }
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace pareto
