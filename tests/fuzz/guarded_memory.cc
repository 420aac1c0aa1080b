#include "tests/fuzz/guarded_memory.h"

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

namespace pareto::fuzz {
namespace {

constexpr std::size_t kMostBytes = 256 << 20;

Guard guard_now = Guard::kNothing;
bool at_end = false;  ///< so does the next tensor lie

/// Pages that hold a tensor, with one of no memory before and two behind, by its first number.
struct Pages {
  void* begin = nullptr;
  std::size_t bytes = 0;
};
std::mutex pages_mutex;
std::unordered_map<void*, Pages> pages_of;

void free_guarded(void* data) {
  if (data == nullptr) return;
  const std::lock_guard lock(pages_mutex);
  const auto found = pages_of.find(data);
  if (found == pages_of.end()) std::abort();
  ::munmap(found->second.begin, found->second.bytes);
  pages_of.erase(found);
}

c10::DataPtr allocate_guarded(std::size_t bytes) {
  const c10::Device cpu(c10::DeviceType::CPU);
  if (bytes == 0) return {nullptr, nullptr, &free_guarded, cpu};
  if (bytes > kMostBytes) throw std::bad_alloc();
  static const auto kPage = static_cast<std::size_t>(::getpagesize());
  const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
  // A kernel that reads ahead of the page that it may read meets no memory either.
  const std::size_t all = whole + 3 * kPage;
  void* const begin =
      ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(begin) + kPage;
  ::mprotect(first, whole, PROT_READ | PROT_WRITE);
  if (guard_now != Guard::kNothing) {
    ::mprotect(first + whole, kPage, PROT_READ | PROT_WRITE);
    std::memset(first + whole, guard_now == Guard::kZeros ? 0 : 0xff, kPage);
    ::mprotect(first + whole, kPage, PROT_READ);
  }
  // Kernels may count on a tensor's first number being aligned as the number is.
  const std::size_t alignment =
      std::min<std::size_t>(64, std::size_t{1} << std::countr_zero(bytes));
  std::byte* const data =
      at_end ? first + whole - (bytes + alignment - 1) / alignment * alignment : first;
  at_end = !at_end;
  std::memset(first, 0x5a, whole);
  const std::lock_guard lock(pages_mutex);
  pages_of[data] = {begin, all};
  return {data, data, &free_guarded, cpu};
}

class GuardedAllocator final : public c10::Allocator {
 public:
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(std::size_t bytes) override { return allocate_guarded(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return allocate_guarded(bytes); }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return &free_guarded; }
};

}  // namespace

void guard_tensors() {
  static GuardedAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/2);
}

void set_guard(Guard guard, bool first_at_end) {
  guard_now = guard;
  at_end = first_at_end;
}

}  // namespace pareto::fuzz
