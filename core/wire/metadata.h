// The middle part of a frame: timeline, tensor descriptors, value tree (core/wire/FORMAT.md). Internal to core/wire.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/wire/codec.h"
#include "core/wire/frame.h"

namespace pareto::wire {

/// Where a tensor of `offset` so far starts in the payload.
constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
}

/// A tensor's place in a payload that is to be sent.
struct SentTensor {
  Tensor tensor;                 ///< as it is in the message
  const Codec* codec = nullptr;  ///< null where it travels as it is
  Tensor encoding;               ///< what travels instead, where there is a codec

  const Tensor& travelling() const { return codec == nullptr ? tensor : encoding; }
};

struct SentPayload {
  std::vector<SentTensor> tensors;  ///< those that share their bytes once
  Nanoseconds encoding{};           ///< time spent in the codec
};

/// Appends the metadata of a message to `out`; returns its tensors in the order of the payload. `codec` (null: none) encodes those
/// it takes and makes smaller. Fails: kExhausted.
Expected<SentPayload> write_metadata(const Message& message, const Codec* codec,
                                     const FrameLimits& limits, std::vector<std::byte>& out);

/// A tensor's place in a payload that is to come.
struct ComingTensor {
  Tensor tensor;  ///< shares its memory with those in the body
  const Codec* codec = nullptr;
  std::uint64_t travelling_bytes =
      0;  ///< of its encoding, where there is a codec; else of the tensor
};

/// What the metadata says, with memory for the tensors in the tree allocated but not filled.
struct Metadata {
  Timeline timeline;
  std::vector<ComingTensor> tensors;  ///< in the order of the payload
  Value body;
};

/// Where a tensor of the metadata gets its memory. `offset`: of its bytes in the payload; none where a codec makes them.
using TensorMaker =
    std::function<Expected<Tensor>(DType dtype, Shape shape, std::optional<std::uint64_t> offset)>;

/// `payload_bytes` is what the header announced: tensors that do not fill exactly that, and tensors that are over the limit once
/// they are decoded, are refused before anything is allocated. Fails: kCorrupt, kExhausted.
Expected<Metadata> read_metadata(std::span<const std::byte> bytes, std::uint64_t payload_bytes,
                                 const FrameLimits& limits, const TensorMaker& make);

}  // namespace pareto::wire
