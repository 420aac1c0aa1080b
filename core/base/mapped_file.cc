#include "core/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"

namespace pareto {

Expected<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // A pipe without a writer would be waited for.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return tl::unexpected(error_from_errno(errno, path.string()));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{}: is no regular file", path.string());
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  // The kernel maps no empty file.
  if (size == 0) return MappedFile({});
  void* const begin =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
  if (begin == MAP_FAILED) return tl::unexpected(error_from_errno(errno, path.string()));
  return MappedFile({static_cast<std::byte*>(begin), size});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace pareto
