// First and last steps of every codec. Internal to core/wire/codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/wire/codec.h"

namespace pareto::wire::codecs {

inline std::size_t element_count_of(const Tensor& tensor) {
  return tensor.size_bytes() / size_of(tensor.dtype());
}

/// Checks that a codec takes the tensor's dtype. Fails: kInvalidArgument.
inline Expected<> check_takes(const Codec& codec, const Tensor& tensor) {
  if (codec.takes(tensor.dtype())) return {};
  return fail(ErrorCode::kInvalidArgument, "{} does not take tensors of {}", codec.name(),
              to_string(tensor.dtype()));
}

/// Checks the size before decoding, if the encoding has one size only. Fails: kCorrupt.
inline Expected<> check_encoded(const Codec& codec, std::span<const std::byte> encoded,
                                std::size_t expected_bytes, const Tensor& into) {
  if (!codec.takes(into.dtype())) {
    return fail(ErrorCode::kCorrupt, "{} does not make tensors of {}", codec.name(),
                to_string(into.dtype()));
  }
  if (encoded.size() != expected_bytes) {
    return fail(ErrorCode::kCorrupt, "{} bytes of {} for a tensor of shape {}, which takes {}",
                encoded.size(), codec.name(), to_string(into.shape()), expected_bytes);
  }
  return {};
}

/// Allocates memory for an encoding. Fails: kExhausted.
inline Expected<Tensor> allocate_bytes(std::size_t bytes) {
  return Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(bytes)});
}

/// Returns the part of it that was used.
inline Expected<Tensor> first_bytes(const Tensor& memory, std::size_t bytes) {
  return Tensor::borrow(DType::kUInt8, {static_cast<std::int64_t>(bytes)}, memory.bytes().data(),
                        memory.owner());
}

}  // namespace pareto::wire::codecs
