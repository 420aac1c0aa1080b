// The middle part of a frame: timeline, tensor descriptors, value tree (core/wire/FORMAT.md). Internal to core/wire.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/wire/frame.h"

namespace pareto::wire {

/// Where a tensor of `offset` so far starts in the payload.
constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
}

/// Appends the metadata of a message to `out`; returns its tensors in the order of the payload, those that share their bytes
/// once. Fails: kExhausted.
Expected<std::vector<Tensor>> write_metadata(const Message& message, const FrameLimits& limits,
                                             std::vector<std::byte>& out);

/// What the metadata says, with memory for the tensors in the tree allocated but not filled.
struct Metadata {
  Timeline timeline;
  std::vector<Tensor>
      tensors;  ///< in the order of the payload; the body holds copies that share their memory
  Value body;
};

/// `payload_bytes` is what the header announced: tensors that do not fill exactly that are refused before anything is allocated.
/// Fails: kCorrupt, kExhausted.
Expected<Metadata> read_metadata(std::span<const std::byte> bytes, std::uint64_t payload_bytes,
                                 const FrameLimits& limits);

}  // namespace pareto::wire
