#include "core/tensor/tensor.h"

#include <cstdlib>
#include <cstring>
#include <limits>

namespace pareto {

Expected<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      return fail(ErrorCode::kInvalidArgument, "negative size in shape {}", to_string(shape));
    }
    empty = empty || size == 0;
  }
  if (empty) return 0;
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(elements, size, &elements)) {
      return fail(ErrorCode::kExhausted, "shape {} has too many elements", to_string(shape));
    }
  }
  return elements;
}

Expected<std::size_t> byte_count(DType dtype, std::span<const std::int64_t> shape) {
  PARETO_ASSIGN(const std::int64_t elements, element_count(shape));
  if (elements > std::numeric_limits<std::int64_t>::max() / 16) {
    return fail(ErrorCode::kExhausted, "a tensor of shape {} does not fit any memory",
                to_string(shape));
  }
  return static_cast<std::size_t>(elements) * size_of(dtype);
}

std::string to_string(std::span<const std::int64_t> shape) {
  if (shape.empty()) return "scalar";
  return fmt::format("{}", fmt::join(shape.begin(), shape.end(), "x"));
}

Tensor::Tensor() : Tensor(DType::kFloat32, {0}, 0, nullptr, nullptr) {}

Tensor::Tensor(DType dtype, Shape shape, std::size_t size_bytes, const std::byte* data,
               std::shared_ptr<const void> owner)
    : dtype_(dtype),
      shape_(std::move(shape)),
      size_bytes_(size_bytes),
      data_(data),
      owner_(std::move(owner)) {}

Expected<Tensor> Tensor::allocate(DType dtype, Shape shape) {
  PARETO_ASSIGN(const std::size_t size, byte_count(dtype, shape));
  // Whole alignment units, at least one: vector code may then read the last line whole.
  const std::size_t capacity = (size / kAlignment + 1) * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, capacity);
  if (memory == nullptr) {
    return fail(ErrorCode::kExhausted, "no memory for a tensor of {} bytes", size);
  }
  std::shared_ptr<const void> owner(memory, [](const void* p) { std::free(const_cast<void*>(p)); });
  return Tensor(dtype, std::move(shape), size, static_cast<const std::byte*>(memory),
                std::move(owner));
}

Expected<Tensor> Tensor::borrow(DType dtype, Shape shape, const std::byte* data,
                                std::shared_ptr<const void> owner) {
  PARETO_ASSIGN(const std::size_t size, byte_count(dtype, shape));
  return Tensor(dtype, std::move(shape), size, data, std::move(owner));
}

bool bit_equal(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && a.size_bytes() == b.size_bytes() &&
         (a.size_bytes() == 0 ||
          std::memcmp(a.bytes().data(), b.bytes().data(), a.size_bytes()) == 0);
}

}  // namespace pareto
