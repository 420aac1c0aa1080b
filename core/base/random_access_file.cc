#include "core/base/random_access_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/file.h"

namespace pareto {

Expected<RandomAccessFile> RandomAccessFile::open(const std::filesystem::path& path) {
  // A pipe without a writer would be waited for.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return tl::unexpected(error_from_errno(errno, path.string()));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return tl::unexpected(error_from_errno(errno, path.string()));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is no regular file", path.string());
  }
  return RandomAccessFile(path, std::move(file), static_cast<std::uint64_t>(status.st_size));
}

Expected<> RandomAccessFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      return tl::unexpected(error_from_errno(errno, path_.string()));
    }
    if (got == 0) {
      return fail(ErrorCode::kCorrupt, "{}: ends at byte {}, {} too early", path_.string(), offset,
                  into.size());
    }
    offset += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace pareto
