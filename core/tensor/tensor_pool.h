// Memory for tensors that come and go in the same sizes, as those on a link do.
#pragma once

#include <cstdint>
#include <memory>

#include "core/tensor/tensor.h"

namespace pareto {

/// A tensor's memory comes back when the last copy of it goes, and serves the next one of about its
/// size: a steady stream of tensors takes nothing from the heap, and no page is zeroed and mapped
/// again for every request. What lies idle is bounded, in bytes and in number; what is in use is
/// its users' matter.
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
