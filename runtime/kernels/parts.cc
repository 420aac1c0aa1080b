#include "runtime/kernels/parts.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace pareto::runtime::kernels {
namespace {

constexpr std::size_t kCacheLine = 64;
// As much as a kernel has under way in a second-level cache, and what it lends to oneDNN.
constexpr std::size_t kThreadBytes = std::size_t{4} << 20;

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

std::byte* allocate(std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kCacheLine, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

struct OfThread {
  std::unique_ptr<std::byte, Free> memory;
  std::size_t used = 0;
};
thread_local OfThread of_thread;

}  // namespace

int kernel_threads() {
  const ThreadPool* const pool = current_pool();
  return pool != nullptr ? pool->threads() : 1;
}

Share share_of(std::int64_t count, int parts, int part) {
  const std::int64_t least = count / parts;
  const std::int64_t more = count % parts;  // the number of parts that have one more
  const std::int64_t begin = part * least + std::min<std::int64_t>(part, more);
  return {begin, begin + least + (part < more ? 1 : 0)};
}

WorkingMemory::WorkingMemory(std::size_t bytes) : used_before_(of_thread.used) {
  const std::size_t wanted = rounded_up(std::max<std::size_t>(bytes, 1));
  own_ = wanted > kThreadBytes - used_before_;
  if (own_) {
    data_ = allocate(wanted);
    return;
  }
  if (!of_thread.memory) of_thread.memory.reset(allocate(kThreadBytes));
  data_ = of_thread.memory.get() + used_before_;
  of_thread.used += wanted;
}

WorkingMemory::~WorkingMemory() {
  if (own_) {
    std::free(data_);
  } else {
    of_thread.used = used_before_;
  }
}

}  // namespace pareto::runtime::kernels
