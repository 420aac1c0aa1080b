// Memory that two processes map. Internal to core/transport/shm.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "core/base/error.h"
#include "core/transport/socket.h"

namespace pareto::transport::shm {

/// Memory of a fixed size: it is sealed, so that no process can make another's mapping end too
/// early.
///
/// Threads: one owner; what is written through data() is the user's matter.
class SharedMemory {
 public:
  /// Zeros. Fails: kExhausted.
  static Expected<SharedMemory> create(std::size_t bytes);
  /// Maps what a peer sent. Fails: kCorrupt (not sealed, or not `bytes` long), kExhausted.
  static Expected<SharedMemory> map(FileDescriptor descriptor, std::size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return bytes_; }
  /// Returns the descriptor for a peer to map; only for what create() made, until
  /// close_descriptor().
  int descriptor() const { return descriptor_.get(); }
  /// Closes the descriptor once the peer has been sent it. The memory stays.
  void close_descriptor() { descriptor_.reset(); }

 private:
  SharedMemory(FileDescriptor descriptor, std::byte* data, std::size_t bytes)
      : descriptor_(std::move(descriptor)), data_(data), bytes_(bytes) {}
  static Expected<SharedMemory> map_whole(FileDescriptor descriptor, std::size_t bytes);

  FileDescriptor descriptor_;
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace pareto::transport::shm
