#include "core/tensor/tensor.h"

#include <algorithm>
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

namespace {

Expected<std::size_t> checked_bytes(DType dtype, const Shape& shape, MemoryLayout layout) {
  if (!suits(layout, shape.size())) {
    return fail(ErrorCode::kInvalidArgument, "a tensor of shape {} cannot lie channels-last",
                to_string(shape));
  }
  return byte_count(dtype, shape);
}

/// channels × pixels from pixels × channels. In blocks, so that a cache line that was read or
/// written serves all its elements.
template <std::size_t kSize>
void transpose(const std::byte* from, std::byte* to, std::size_t pixels, std::size_t channels) {
  constexpr std::size_t kBlock = 16;
  for (std::size_t first = 0; first < pixels; first += kBlock) {
    const std::size_t end = std::min(first + kBlock, pixels);
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (std::size_t pixel = first; pixel < end; ++pixel) {
        std::memcpy(to + (channel * pixels + pixel) * kSize,
                    from + (pixel * channels + channel) * kSize, kSize);
      }
    }
  }
}

auto transpose_of(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return transpose<1>;
    case 2:
      return transpose<2>;
    case 4:
      return transpose<4>;
    case 8:
      return transpose<8>;
    default:
      return transpose<16>;
  }
}

}  // namespace

Tensor::Tensor() : Tensor(DType::kFloat32, {0}, 0, nullptr, nullptr, MemoryLayout::kRowMajor) {}

Tensor::Tensor(DType dtype, Shape shape, std::size_t size_bytes, const std::byte* data,
               std::shared_ptr<const void> owner, MemoryLayout layout)
    : dtype_(dtype),
      layout_(layout),
      shape_(std::move(shape)),
      size_bytes_(size_bytes),
      data_(data),
      owner_(std::move(owner)) {}

Expected<Tensor> Tensor::allocate(DType dtype, Shape shape, MemoryLayout layout) {
  PARETO_ASSIGN(const std::size_t size, checked_bytes(dtype, shape, layout));
  // Whole alignment units, at least one: vector code may then read the last line whole.
  const std::size_t capacity = (size / kAlignment + 1) * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, capacity);
  if (memory == nullptr) {
    return fail(ErrorCode::kExhausted, "no memory for a tensor of {} bytes", size);
  }
  std::shared_ptr<const void> owner(memory, [](const void* p) { std::free(const_cast<void*>(p)); });
  return Tensor(dtype, std::move(shape), size, static_cast<const std::byte*>(memory),
                std::move(owner), layout);
}

Expected<Tensor> Tensor::borrow(DType dtype, Shape shape, const std::byte* data,
                                std::shared_ptr<const void> owner, MemoryLayout layout) {
  PARETO_ASSIGN(const std::size_t size, checked_bytes(dtype, shape, layout));
  return Tensor(dtype, std::move(shape), size, data, std::move(owner), layout);
}

Expected<Tensor> row_major(const Tensor& tensor) {
  if (tensor.layout() == MemoryLayout::kRowMajor) return tensor;
  PARETO_ASSIGN(Tensor result, Tensor::allocate(tensor.dtype(), tensor.shape()));
  if (tensor.size_bytes() == 0) return result;
  const auto sizes = std::span(tensor.shape());
  const auto channels = static_cast<std::size_t>(sizes[1]);
  const auto pixels = static_cast<std::size_t>(sizes[2] * sizes[3]);
  const std::size_t image_bytes = tensor.size_bytes() / static_cast<std::size_t>(sizes[0]);
  const auto transpose_image = transpose_of(size_of(tensor.dtype()));
  for (std::size_t offset = 0; offset < tensor.size_bytes(); offset += image_bytes) {
    transpose_image(tensor.bytes().data() + offset, result.mutable_bytes().data() + offset, pixels,
                    channels);
  }
  return result;
}

bool bit_equal(const Tensor& a, const Tensor& b) {
  if (a.layout() != b.layout()) {
    const auto one = row_major(a);
    const auto other = row_major(b);
    return one && other && bit_equal(*one, *other);
  }
  return a.dtype() == b.dtype() && a.shape() == b.shape() && a.size_bytes() == b.size_bytes() &&
         (a.size_bytes() == 0 ||
          std::memcmp(a.bytes().data(), b.bytes().data(), a.size_bytes()) == 0);
}

}  // namespace pareto
