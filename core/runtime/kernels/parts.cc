#include "core/runtime/kernels/parts.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace pareto::runtime {
namespace {

/// OpenMP's own count of the calling thread. It is looked up at run time: another LibTorch may come
/// with another OpenMP, or with none.
struct OpenMp {
  using Count = int (*)();
  using SetCount = void (*)(int);
  Count count = reinterpret_cast<Count>(::dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  SetCount set_count = reinterpret_cast<SetCount>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
};

const OpenMp& open_mp() {
  static const OpenMp found;
  return found;
}

constexpr std::size_t kAlignment = 64;
// As much as a kernel has under way in a second-level cache, and what it lends to oneDNN.
constexpr std::size_t kThreadBytes = std::size_t{4} << 20;

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::byte* allocate(std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes));
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

OneThread::OneThread() : before_(open_mp().count != nullptr ? open_mp().count() : 1) {
  if (before_ != 1 && open_mp().set_count != nullptr) open_mp().set_count(1);
}

OneThread::~OneThread() {
  if (before_ != 1 && open_mp().set_count != nullptr) open_mp().set_count(before_);
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

}  // namespace pareto::runtime
