// What kernels need that are cut into parts for the threads of a pool: their number, equal shares,
// working memory. Internal to runtime; no LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/thread_pool.h"

namespace pareto::runtime::kernels {

/// Returns how many threads a kernel of the calling thread has: those of its pool.
int kernel_threads();

inline std::size_t to_size(std::int64_t number) { return static_cast<std::size_t>(number); }

/// Numbers from begin to end, without it.
struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const Share&) const = default;
};

/// Returns the share of one of `parts` parts in `count` things: as equal as can be.
Share share_of(std::int64_t count, int parts, int part);

/// Working memory of a kernel, 64-byte aligned, with any content. Each thread has some that it uses
/// again and again, so that it stays in its cache.
///
/// Threads: made and destroyed by one thread, the last made is the first destroyed.
class WorkingMemory {
 public:
  /// Throws std::bad_alloc.
  explicit WorkingMemory(std::size_t bytes);
  ~WorkingMemory();
  WorkingMemory(const WorkingMemory&) = delete;
  WorkingMemory& operator=(const WorkingMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::size_t used_before_;
  bool own_;  ///< it did not fit into the thread's
};

}  // namespace pareto::runtime::kernels
