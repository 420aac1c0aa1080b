#include "tests/support/tensor_memory.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace pareto::test {
namespace {

struct Blocks {
  std::mutex mutex;
  std::unordered_map<void*, std::size_t> sizes;
  std::uint64_t bytes = 0;
  std::uint64_t peak = 0;
};

/// True while this thread keeps its books: their own memory is not counted. The daemon's operators
/// new and delete call what is wrapped here.
thread_local bool at_the_books = false;

/// Returns the blocks. They are never destroyed: tensors may be freed until the very end.
Blocks& blocks() {
  static auto* const kAll = new Blocks;
  return *kAll;
}

}  // namespace

std::uint64_t tensor_bytes() {
  const std::lock_guard lock(blocks().mutex);
  return blocks().bytes;
}

std::uint64_t peak_tensor_bytes() {
  const std::lock_guard lock(blocks().mutex);
  return blocks().peak;
}

void forget_peak() {
  const std::lock_guard lock(blocks().mutex);
  blocks().peak = blocks().bytes;
}

}  // namespace pareto::test

// The names that the linker puts in place of the wrapped ones, and of what they were.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void __real_free(void* memory);

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  void* const memory = __real_aligned_alloc(alignment, size);
  if (memory == nullptr || pareto::test::at_the_books) return memory;
  pareto::test::at_the_books = true;
  {
    auto& all = pareto::test::blocks();
    const std::lock_guard lock(all.mutex);
    all.sizes[memory] = size;
    all.bytes += size;
    all.peak = std::max(all.peak, all.bytes);
  }
  pareto::test::at_the_books = false;
  return memory;
}

void __wrap_free(void* memory) {
  if (!std::exchange(pareto::test::at_the_books, true)) {
    auto& all = pareto::test::blocks();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.sizes.find(memory); found != all.sizes.end()) {
      all.bytes -= found->second;
      all.sizes.erase(found);
    }
    pareto::test::at_the_books = false;
  }
  __real_free(memory);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}
