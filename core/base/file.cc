#include "core/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace pareto {
namespace {

/// A descriptor closed at the end of its scope.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

Expected<> write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return tl::unexpected(error_from_errno(errno, "writing"));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0) return tl::unexpected(error_from_errno(errno, "flushing"));
  return {};
}

}  // namespace

Error error_from_errno(int errno_value, std::string_view what) {
  ErrorCode code = ErrorCode::kInternal;
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      code = ErrorCode::kNotFound;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
    case EADDRINUSE:
    case EADDRNOTAVAIL:
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

Expected<std::string> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  const Descriptor fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (fd.value < 0) return tl::unexpected(error_from_errno(errno, path.string()));
  struct stat status {};
  if (::fstat(fd.value, &status) != 0) {
    return tl::unexpected(error_from_errno(errno, path.string()));
  }
  if (S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is a folder, not a file", path.string());
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
    const ssize_t count = ::read(fd.value, buffer, sizeof buffer);
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

Expected<> write_file_atomically(const std::filesystem::path& path,
                                 std::span<const std::byte> bytes) {
  std::string temporary = path.string() + ".XXXXXX";
  const Descriptor fd{::mkstemp(temporary.data())};
  if (fd.value < 0) return tl::unexpected(error_from_errno(errno, path.string()));
  auto written = write_all(fd.value, bytes);
  ::fchmod(fd.value, 0644);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = tl::unexpected(error_from_errno(errno, "renaming"));
  }
  if (!written) ::unlink(temporary.c_str());
  return with_context(std::move(written), "{}", path.string());
}

Expected<> write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  return write_file_atomically(path, std::as_bytes(std::span(text)));
}

Expected<TemporaryFolder> TemporaryFolder::create(std::string_view prefix) {
  std::string pattern =
      (std::filesystem::temp_directory_path() / (std::string(prefix) + ".XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return tl::unexpected(error_from_errno(errno, pattern));
  }
  return TemporaryFolder(std::filesystem::path(pattern));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace pareto
