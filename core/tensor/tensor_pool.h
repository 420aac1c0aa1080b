// Memory for tensors that come and go in the same sizes, as those on a link do.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/tensor.h"

namespace pareto {

/// A pool of tensors' memory. It comes back when the last copy of a tensor goes, and serves the
/// next tensor of about its size. So a steady stream of tensors takes nothing from the heap, and no
/// page is zeroed and mapped again for every request. Idle memory is bounded, in bytes and in
/// number; memory in use is not.
///
/// Threads: any. Tensors may outlive the pool.
class TensorPool {
 public:
  explicit TensorPool(std::uint64_t max_idle_bytes = std::uint64_t{64} << 20);

  /// Allocates like Tensor::allocate(): uninitialised, 64-byte aligned. Fails: kInvalidArgument,
  /// kExhausted.
  Expected<Tensor> allocate(DType dtype, Shape shape,
                            MemoryLayout layout = MemoryLayout::kRowMajor);

  std::uint64_t idle_bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace pareto
