#include "runtime/torch/memory_limit.h"

#include <c10/core/CPUAllocator.h>
#include <fmt/format.h>
#include <malloc.h>
#include <torch/version.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

// A sanitizer has an operator new of its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PARETO_COUNTS_HEAP 1
#endif

namespace pareto::runtime {
namespace {

/// Pieces of this size and less may exceed the limit by kSlackBytes: errors are told with them.
constexpr std::size_t kSmallBytes = 64 << 10;
constexpr std::int64_t kSlackBytes = 16 << 20;

thread_local MemoryAccount* account_of_this_thread = nullptr;
/// Bytes of operator new that this thread has taken and not given back in its scope.
thread_local std::int64_t heap_of_this_thread = 0;

void release_holder(MemoryAccount* account) {
  if (account != nullptr && account->holders.fetch_sub(1) == 1) delete account;
}

/// Throws if the thread may not take that many bytes more.
void check_room(const MemoryAccount& account, std::size_t bytes) {
  const std::int64_t taken =
      account.tensor_bytes.load(std::memory_order_relaxed) + heap_of_this_thread;
  const auto limit = static_cast<std::int64_t>(account.limit_bytes);
  const std::int64_t allowed = bytes <= kSmallBytes ? limit + kSlackBytes : limit;
  const bool fits = bytes <= static_cast<std::uint64_t>(limit) + kSlackBytes &&
                    taken <= allowed - static_cast<std::int64_t>(bytes);
  if (!fits) throw MemoryLimitReached(account.limit_bytes);
}

// Tensors lie behind a header of one line of the cache, which LibTorch aligns them by.
constexpr std::size_t kHeaderSize = 64;
struct TensorHeader {
  MemoryAccount* account = nullptr;
  std::size_t bytes = 0;
};
static_assert(sizeof(TensorHeader) <= kHeaderSize);

c10::Allocator* base_allocator = nullptr;

void free_tensor(void* data) {
  if (data == nullptr) return;
  void* const memory = static_cast<std::byte*>(data) - kHeaderSize;
  const TensorHeader header = *static_cast<TensorHeader*>(memory);
  if (header.account != nullptr) {
    header.account->tensor_bytes -= static_cast<std::int64_t>(header.bytes);
    release_holder(header.account);
  }
  base_allocator->raw_deallocate(memory);
}

/// LibTorch's own allocator, which counts.
class CountingAllocator final : public c10::Allocator {
 public:
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(std::size_t bytes) override { return counted(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return counted(bytes); }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return &free_tensor; }

 private:
  static c10::DataPtr counted(std::size_t bytes) {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &free_tensor, cpu};
    MemoryAccount* const account = account_of_this_thread;
    if (account != nullptr) check_room(*account, bytes);
    // A size that no memory has is refused by the allocator, with its number.
    const std::size_t whole = bytes + kHeaderSize < bytes ? bytes : bytes + kHeaderSize;
    void* const memory = base_allocator->raw_allocate(whole);
    new (memory) TensorHeader{account, bytes};
    if (account != nullptr) {
      account->tensor_bytes += static_cast<std::int64_t>(bytes);
      ++account->holders;
    }
    void* const data = static_cast<std::byte*>(memory) + kHeaderSize;
    return {data, data, &free_tensor, cpu};
  }
};

}  // namespace

MemoryLimitReached::MemoryLimitReached(std::uint64_t limit_bytes) {
  const auto end =
      fmt::format_to_n(text_, sizeof text_ - 1,
                       "out of memory: the shard takes more than its {} MiB", limit_bytes >> 20);
  *end.out = '\0';
}

MemoryScope::MemoryScope(std::uint64_t limit_bytes)
    : account_(limit_bytes > 0 ? new MemoryAccount(limit_bytes) : nullptr),
      before_(std::exchange(account_of_this_thread, account_)),
      heap_before_(std::exchange(heap_of_this_thread, 0)) {
  if (account_ != nullptr) install_counting_allocator();
}

MemoryScope::MemoryScope(MemoryAccount* shared)
    : account_(shared),
      before_(std::exchange(account_of_this_thread, account_)),
      heap_before_(std::exchange(heap_of_this_thread, 0)) {
  if (account_ != nullptr) ++account_->holders;
}

MemoryScope::~MemoryScope() {
  account_of_this_thread = before_;
  heap_of_this_thread = heap_before_;
  release_holder(account_);
}

MemoryAccount* current_memory_account() { return account_of_this_thread; }

void install_counting_allocator() {
  static const bool kInstalled = [] {
    static CountingAllocator allocator;
    base_allocator = c10::GetCPUAllocator();
    c10::SetCPUAllocator(&allocator, /*priority=*/1);
    return true;
  }();
  static_cast<void>(kInstalled);
}

#ifdef PARETO_COUNTS_HEAP
namespace {

template <typename Take>
void* take_counted(std::size_t bytes, Take take) {
  const MemoryAccount* const account = account_of_this_thread;
  if (account != nullptr) check_room(*account, bytes);
  for (;;) {
    if (void* const memory = take()) {
      if (account != nullptr) {
        heap_of_this_thread += static_cast<std::int64_t>(::malloc_usable_size(memory));
      }
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void give_back(void* memory) noexcept {
  if (account_of_this_thread != nullptr && memory != nullptr) {
    heap_of_this_thread -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  }
  std::free(memory);
}

}  // namespace
#endif

}  // namespace pareto::runtime

#ifdef PARETO_COUNTS_HEAP
// The other forms of new and delete end in these.
void* operator new(std::size_t bytes) {
  return pareto::runtime::take_counted(bytes, [&] { return std::malloc(bytes == 0 ? 1 : bytes); });
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return pareto::runtime::take_counted(bytes, [&] {
    void* memory = nullptr;
    const auto aligned = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
    return ::posix_memalign(&memory, aligned, bytes == 0 ? 1 : bytes) == 0 ? memory : nullptr;
  });
}
void operator delete(void* memory) noexcept { pareto::runtime::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { pareto::runtime::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept {
  pareto::runtime::give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  pareto::runtime::give_back(memory);
}
#endif
