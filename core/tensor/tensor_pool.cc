#include "core/tensor/tensor_pool.h"

#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

namespace pareto {
namespace {

// The C library keeps smaller ones at hand itself.
constexpr std::uint64_t kSmallestBytes = 32 << 10;
constexpr std::uint64_t kUnit = 4096;

struct Block {
  std::byte* memory = nullptr;
  std::uint64_t bytes = 0;
};

}  // namespace

struct TensorPool::State {
  explicit State(std::uint64_t most) : max_idle_bytes(most) {}
  ~State() {
    for (const Block& block : idle) std::free(block.memory);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// One that lies idle, the last used first; else a new one. Null memory: there is none.
  Block take(std::uint64_t bytes) {
    // As Tensor::allocate: vector code may read the last line whole.
    const std::uint64_t wanted = (bytes + Tensor::kAlignment + kUnit - 1) / kUnit * kUnit;
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
    return {static_cast<std::byte*>(std::aligned_alloc(kUnit, wanted)), wanted};
  }

  void give_back(Block block) {
    std::deque<Block> dropped;
    {
      const std::lock_guard lock(mutex);
      idle.push_back(block);
      idle_bytes += block.bytes;
      while (idle_bytes > max_idle_bytes) {
        idle_bytes -= idle.front().bytes;
        dropped.push_back(idle.front());
        idle.pop_front();
      }
    }
    for (const Block& old : dropped) std::free(old.memory);
  }

  const std::uint64_t max_idle_bytes;
  std::mutex mutex;
  std::deque<Block> idle;  // the last used at the back
  std::uint64_t idle_bytes = 0;
};

TensorPool::TensorPool(std::uint64_t max_idle_bytes)
    : state_(std::make_shared<State>(max_idle_bytes)) {}

Expected<Tensor> TensorPool::allocate(DType dtype, Shape shape) {
  PARETO_ASSIGN(const std::size_t bytes, byte_count(dtype, shape));
  if (bytes < kSmallestBytes) return Tensor::allocate(dtype, std::move(shape));
  const Block block = state_->take(bytes);
  if (block.memory == nullptr) return fail(ErrorCode::kExhausted, "no memory for {} bytes", bytes);
  std::shared_ptr<const void> owner(
      block.memory, [state = state_, block](const void*) { state->give_back(block); });
  return Tensor::borrow(dtype, std::move(shape), block.memory, std::move(owner));
}

std::uint64_t TensorPool::idle_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->idle_bytes;
}

}  // namespace pareto
