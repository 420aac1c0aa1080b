// Limits the memory that a shard takes while it loads or runs. Tensors are counted by LibTorch's
// allocator, lists and texts by operator new. Sees no LibTorch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

namespace pareto::runtime {

/// Thrown if a shard asks for more memory than it may have.
class MemoryLimitReached final : public std::bad_alloc {
 public:
  explicit MemoryLimitReached(std::uint64_t limit_bytes);
  /// "out of memory: the request takes more than 2.1 GB"
  const char* what() const noexcept override { return text_; }

 private:
  char text_[96] = {};
};

/// Memory that one call into a shard has taken. Tensors may outlive the call: who frees them last
/// gives it back.
struct MemoryAccount {
  explicit MemoryAccount(std::uint64_t limit) : limit_bytes(limit) {}

  const std::uint64_t limit_bytes;
  std::atomic<std::int64_t> tensor_bytes{0};
  std::atomic<std::int64_t> holders{1};  ///< scopes and tensors that refer to it
};

/// The account that the calling thread's allocations are charged to, for as long as it exists.
/// Threads: one.
class MemoryScope {
 public:
  /// Begins an account of that limit in bytes. 0 means no limit.
  explicit MemoryScope(std::uint64_t limit_bytes);
  /// Charges a helping thread's allocations to the account of the thread that it helps; null: none.
  explicit MemoryScope(MemoryAccount* shared);
  ~MemoryScope();
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  MemoryAccount* const account_;
  MemoryAccount* const before_;
  const std::int64_t heap_before_;
};

/// Returns the calling thread's account; null: its memory is not limited.
MemoryAccount* current_memory_account();

/// Puts the counting allocator in the place of LibTorch's own, once in a process.
void install_counting_allocator();

}  // namespace pareto::runtime
