// Any bytes as an encoding: no codec may crash, read or write where it should not. What the bytes
// are as a tensor has to survive the way there and back.
//
//   input = codec's place in the list, dtype's place, rank (0 … 3), a size (0 … 255) for each
//           dimension, the encoding
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "core/wire/codec.h"

namespace {

using pareto::DType;
using pareto::Shape;
using pareto::Tensor;
using pareto::wire::Codec;

constexpr std::array<DType, 13> kDTypes{
    DType::kFloat32,    DType::kUInt8,   DType::kInt8,    DType::kInt16,     DType::kInt32,
    DType::kInt64,      DType::kFloat16, DType::kFloat64, DType::kComplex32, DType::kComplex64,
    DType::kComplex128, DType::kBool,    DType::kBFloat16};

/// Ends where its memory ends, so that sanitizers see every byte beyond it.
Tensor exact_tensor(DType dtype, const Shape& shape) {
  const auto count = static_cast<std::size_t>(*pareto::element_count(shape));
  auto memory = std::make_shared<std::vector<std::byte>>(count * pareto::size_of(dtype));
  const std::byte* const data = memory->data();
  return *Tensor::borrow(dtype, shape, data, std::move(memory));
}

void there_and_back(const Codec& codec, const Tensor& tensor) {
  const auto encoded = codec.encode(tensor);
  if (!encoded) return;
  Tensor decoded = exact_tensor(tensor.dtype(), tensor.shape());
  // What we encode we decode, and what loses nothing loses nothing.
  if (!codec.decode(encoded->bytes(), decoded)) std::abort();
  if (codec.lossless() && !bit_equal(tensor, decoded)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> input(data, size);
  const auto next = [&input]() -> std::size_t {
    if (input.empty()) return 0;
    const std::uint8_t byte = input.front();
    input = input.subspan(1);
    return byte;
  };
  const auto& codecs = pareto::wire::builtin_codecs();
  const Codec& codec = *codecs[next() % codecs.size()];
  const DType dtype = kDTypes[next() % kDTypes.size()];
  Shape shape(next() % 4);
  for (std::int64_t& extent : shape) extent = static_cast<std::int64_t>(next());
  if (*pareto::element_count(shape) > 1 << 20) return 0;

  // A copy, so that sanitizers see what is read behind it.
  std::vector<std::byte> encoded(input.size());
  if (!input.empty()) std::memcpy(encoded.data(), input.data(), input.size());
  Tensor into = exact_tensor(dtype, shape);
  // Refused or not: all that counts is that it does no harm.
  (void)codec.decode(encoded, into);

  const auto elements = static_cast<std::int64_t>(encoded.size() / size_of(dtype));
  Tensor tensor = exact_tensor(dtype, {elements});
  if (tensor.size_bytes() > 0) {
    std::memcpy(tensor.mutable_bytes().data(), encoded.data(), tensor.size_bytes());
  }
  if (codec.takes(dtype)) there_and_back(codec, tensor);
  return 0;
}
