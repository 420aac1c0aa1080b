// A tensor as bytes: what crosses a boundary, lies in a store and travels in a frame. No LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/dtype.h"

namespace pareto {

/// Sizes of the dimensions, outermost first; {} is a scalar. Every size >= 0.
using Shape = std::vector<std::int64_t>;

/// Elements of a shape. Fails with kInvalidArgument on a negative size, kExhausted where the
/// product does not fit 63 bits.
Expected<std::int64_t> element_count(std::span<const std::int64_t> shape);
/// Returns the bytes of a dense tensor. Fails: as element_count() does.
Expected<std::size_t> byte_count(DType dtype, std::span<const std::int64_t> shape);
/// Returns "1x3x224x224"; "scalar" for {}.
std::string to_string(std::span<const std::int64_t> shape);

/// The order in which a dense tensor's elements lie.
enum class MemoryLayout : std::uint8_t {
  kRowMajor = 0,      ///< the last dimension's neighbours are neighbours in memory
  kChannelsLast = 1,  ///< rank 4 only, N × C × H × W: as a row-major N × H × W × C
};

/// Dense, immutable once shared. Copies share the bytes.
///
/// Threads: a const Tensor may be read by any number of threads.
class Tensor {
 public:
  /// The alignment of tensor memory: fits a cache line and every vector unit we run on.
  static constexpr std::size_t kAlignment = 64;

  /// An empty float32 tensor of shape {0}.
  Tensor();

  /// Allocates a tensor with uninitialised memory, 64-byte aligned. Fails: kInvalidArgument (bad
  /// shape, a rank that the layout does not suit), kExhausted (no memory).
  static Expected<Tensor> allocate(DType dtype, Shape shape,
                                   MemoryLayout layout = MemoryLayout::kRowMajor);
  /// Makes a tensor of somebody else's memory, which `owner` keeps alive for as long as any copy of
  /// the tensor lives. `data` holds at least element_count × size_of(dtype) bytes, in any
  /// alignment. Fails: kInvalidArgument (as allocate).
  static Expected<Tensor> borrow(DType dtype, Shape shape, const std::byte* data,
                                 std::shared_ptr<const void> owner,
                                 MemoryLayout layout = MemoryLayout::kRowMajor);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  /// Returns the shape's memory, from a tensor that nobody looks at any more.
  Shape take_shape() && { return std::move(shape_); }
  MemoryLayout layout() const { return layout_; }
  std::size_t size_bytes() const { return size_bytes_; }
  std::span<const std::byte> bytes() const { return {data_, size_bytes_}; }
  /// Returns the memory for its one writer, right after allocate() and before the tensor is shared.
  std::span<std::byte> mutable_bytes() { return {const_cast<std::byte*>(data_), size_bytes_}; }
  /// Returns the owner that keeps the memory alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  Tensor(DType dtype, Shape shape, std::size_t size_bytes, const std::byte* data,
         std::shared_ptr<const void> owner, MemoryLayout layout);

  DType dtype_;
  MemoryLayout layout_;
  Shape shape_;
  std::size_t size_bytes_;
  const std::byte* data_;
  std::shared_ptr<const void> owner_;
};

/// Returns whether a tensor of that rank can have that layout.
constexpr bool suits(MemoryLayout layout, std::size_t rank) {
  return layout == MemoryLayout::kRowMajor || rank == 4;
}
/// Returns the same tensor in row-major order: itself where it is so already, else a copy. Fails:
/// kExhausted.
Expected<Tensor> row_major(const Tensor& tensor);

/// Returns whether two tensors have the same dtype, shape and bits of every element, in whatever
/// layout. NaN equals the same NaN, and -0 differs from 0.
bool bit_equal(const Tensor& a, const Tensor& b);

}  // namespace pareto
