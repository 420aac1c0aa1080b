#include "core/runtime/weight_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace pareto::runtime {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kChunk = 2 * kLargePage;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

std::byte* WeightMemory::allocate(std::size_t bytes) {
  const std::size_t wanted = rounded_up(bytes, kAlignment);
  if (wanted > left_) {
    const std::size_t size = rounded_up(std::max(wanted, kChunk), kLargePage);
    auto* const chunk = static_cast<std::byte*>(std::aligned_alloc(kLargePage, size));
    if (chunk == nullptr) throw std::bad_alloc();
    chunks_.emplace_back(chunk);
    // A wish: small pages do as well, only slower.
    ::madvise(chunk, size, MADV_HUGEPAGE);
    next_ = chunk;
    left_ = size;
  }
  left_ -= wanted;
  return std::exchange(next_, next_ + wanted);
}

}  // namespace pareto::runtime
