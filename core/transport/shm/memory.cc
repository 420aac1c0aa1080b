#include "core/transport/shm/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pareto::transport::shm {

Expected<SharedMemory> SharedMemory::create(std::size_t bytes) {
  FileDescriptor descriptor(::memfd_create("pareto-link", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor || ::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail(ErrorCode::kExhausted, "{} bytes of shared memory: {}", bytes, errno_text(errno));
  }
  return map_whole(std::move(descriptor), bytes);
}

Expected<SharedMemory> SharedMemory::map(FileDescriptor descriptor, std::size_t bytes) {
  struct stat status {};
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  const bool sealed = seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
  if (!sealed || ::fstat(descriptor.get(), &status) != 0 ||
      status.st_size != static_cast<off_t>(bytes)) {
    return fail(ErrorCode::kCorrupt, "the peer's shared memory is not {} sealed bytes", bytes);
  }
  PARETO_ASSIGN(SharedMemory memory, map_whole(std::move(descriptor), bytes));
  memory.close_descriptor();
  return memory;
}

Expected<SharedMemory> SharedMemory::map_whole(FileDescriptor descriptor, std::size_t bytes) {
  // Populated at once: no page fault while a frame is copied.
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                            descriptor.get(), 0);
  if (data == MAP_FAILED) {
    return fail(ErrorCode::kExhausted, "mapping {} bytes of shared memory: {}", bytes,
                errno_text(errno));
  }
  return SharedMemory(std::move(descriptor), static_cast<std::byte*>(data), bytes);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace pareto::transport::shm
