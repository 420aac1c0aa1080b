#include "core/tensor/tensor_pool.h"

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace pareto {
namespace {

// Small tensors are kept as tight as their alignment allows, large ones in whole pages.
constexpr std::uint64_t kLargeBytes = 32 << 10;
constexpr std::uint64_t kPageBytes = 4096;
/// The bytes at the end of a block for the reference count of the tensor in it.
constexpr std::uint64_t kCountBytes = 128;
/// A taker looks through all of them at worst.
constexpr std::size_t kMostIdleBlocks = 1024;

struct Block {
  std::byte* memory = nullptr;
  std::uint64_t bytes = 0;  // kCountBytes included
};

std::uint64_t unit_of(std::uint64_t bytes) {
  return bytes < kLargeBytes ? Tensor::kAlignment : kPageBytes;
}

}  // namespace

struct TensorPool::State {
  explicit State(std::uint64_t most) : max_idle_bytes(most) {}
  ~State() {
    for (const Block& block : idle) std::free(block.memory);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Returns one that lies idle, the last used first; else a new one. Null memory: there is none.
  Block take(std::uint64_t bytes) {
    const std::uint64_t unit = unit_of(bytes);
    // As Tensor::allocate: vector code may read the last line whole.
    const std::uint64_t wanted =
        (bytes + Tensor::kAlignment + kCountBytes + unit - 1) / unit * unit;
    {
      const std::lock_guard lock(mutex);
      for (auto block = idle.rbegin(); block != idle.rend(); ++block) {
        if (block->bytes < wanted || block->bytes > wanted + wanted / 4) continue;
        const Block found = *block;
        idle_bytes -= found.bytes;
        idle.erase(std::next(block).base());
        return found;
      }
    }
    return {static_cast<std::byte*>(std::aligned_alloc(unit, wanted)), wanted};
  }

  void give_back(Block block) {
    {
      const std::lock_guard lock(mutex);
      idle.push_back(block);
      idle_bytes += block.bytes;
    }
    while (std::byte* const old = drop_oldest()) std::free(old);
  }

  /// Returns one that is too many, else null.
  std::byte* drop_oldest() {
    const std::lock_guard lock(mutex);
    if (idle_bytes <= max_idle_bytes && idle.size() <= kMostIdleBlocks) return nullptr;
    const Block old = idle.front();
    idle.erase(idle.begin());
    idle_bytes -= old.bytes;
    return old.memory;
  }

  const std::uint64_t max_idle_bytes;
  std::mutex mutex;
  std::vector<Block> idle;  // the last used at the back
  std::uint64_t idle_bytes = 0;

  template <typename T>
  class CountAllocator;
};

/// Puts a shared_ptr's reference count at the end of the block that it counts the users of: freeing
/// the count, the last thing a shared_ptr does, gives the block back.
template <typename T>
class TensorPool::State::CountAllocator {
 public:
  using value_type = T;

  CountAllocator(std::shared_ptr<State> state, Block block)
      : state_(std::move(state)), block_(block) {}
  template <typename U>
  CountAllocator(const CountAllocator<U>& other)  // NOLINT(google-explicit-constructor): rebinding
      : state_(other.state_), block_(other.block_) {}

  T* allocate(std::size_t count) {
    static_assert(sizeof(T) <= kCountBytes && alignof(T) <= Tensor::kAlignment);
    // A shared_ptr makes one count.
    if (count != 1) throw std::bad_alloc();
    return reinterpret_cast<T*>(block_.memory + block_.bytes - kCountBytes);
  }
  void deallocate(T*, std::size_t) { state_->give_back(block_); }

  template <typename U>
  bool operator==(const CountAllocator<U>& other) const {
    return block_.memory == other.block_.memory;
  }

 private:
  template <typename U>
  friend class CountAllocator;

  std::shared_ptr<State> state_;
  Block block_;
};

TensorPool::TensorPool(std::uint64_t max_idle_bytes)
    : state_(std::make_shared<State>(max_idle_bytes)) {}

Expected<Tensor> TensorPool::allocate(DType dtype, Shape shape, MemoryLayout layout) {
  PARETO_ASSIGN(const std::size_t bytes, byte_count(dtype, shape));
  const Block block = state_->take(bytes);
  if (block.memory == nullptr) return fail(ErrorCode::kExhausted, "no memory for {} bytes", bytes);
  const auto leave = [](const void*) {};  // the count takes the block with it
  std::shared_ptr<const void> owner(block.memory, leave,
                                    State::CountAllocator<std::byte>(state_, block));
  return Tensor::borrow(dtype, std::move(shape), block.memory, std::move(owner), layout);
}

std::uint64_t TensorPool::idle_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->idle_bytes;
}

}  // namespace pareto
