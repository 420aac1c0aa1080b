// The middle part of a frame: timeline, tensor descriptors, value tree (core/wire/FORMAT.md).
// Internal to core/wire.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/wire/bytes.h"
#include "core/wire/codec.h"
#include "core/wire/frame.h"
#include "core/wire/message_pool.h"

namespace pareto::wire {

/// Returns where a tensor of `offset` so far starts in the payload.
constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
}

/// Counts one more value of a tree, at that depth. Fails: kExhausted.
inline Expected<> count_value(const FrameLimits& limits, std::uint32_t depth,
                              std::uint32_t& values) {
  if (depth > limits.max_depth) {
    return fail(ErrorCode::kExhausted, "the value tree is deeper than {} levels", limits.max_depth);
  }
  if (++values > limits.max_values) {
    return fail(ErrorCode::kExhausted, "the value tree has more than {} values", limits.max_values);
  }
  return {};
}

/// A tensor's place in a payload that is to be sent.
struct SentTensor {
  const Tensor* tensor = nullptr;  ///< tensor as it is in the message
  const Codec* codec = nullptr;    ///< null where it travels as it is
  std::optional<Tensor> encoding;  ///< encoding that travels in its place, if there is a codec

  const Tensor& travelling() const { return encoding ? *encoding : *tensor; }
};

/// Writes the metadata of one message after another, in memory that it keeps between them.
///
/// Threads: one owner.
class MetadataWriter {
 public:
  explicit MetadataWriter(const FrameLimits& limits) : limits_(limits) {}
  MetadataWriter(const MetadataWriter&) = delete;
  MetadataWriter& operator=(const MetadataWriter&) = delete;

  /// Appends the metadata of a message to `out`. `codec` (null: none) encodes those tensors that it
  /// takes and makes smaller. Fails: kExhausted.
  Expected<> write(const Message& message, const Codec* codec, std::vector<std::byte>& out);
  /// Returns the tensors of the message last written, for as long as that lives, in the order of
  /// the payload; those that share their bytes once.
  std::span<const SentTensor> tensors() const { return tensors_; }
  /// Returns the time spent in the codec for it.
  Nanoseconds encoding() const { return encoding_; }
  /// Lets go of it.
  void clear();

 private:
  // In this order: the tree is walked once to find its tensors, once to write it.
  Expected<> find_tensors(const Value& value, std::uint32_t depth);
  Expected<> number_tensors();
  void find_shared_bytes();
  Expected<> check_memory() const;
  Expected<> encode_tensors(const Codec& codec);

  const FrameLimits limits_;
  std::uint32_t values_ = 0;
  std::vector<const Tensor*> nodes_;       ///< the tensor of each kTensor node
  std::vector<std::uint32_t> order_;       ///< … and its place in tensors_
  std::vector<std::uint32_t> by_address_;  ///< nodes that have bytes, in the order of those
  std::vector<SentTensor> tensors_;
  Nanoseconds encoding_{};
};

/// The checked description of a tensor that is to come.
struct Descriptor {
  DType dtype = DType::kFloat32;
  Shape shape;
  MemoryLayout layout = MemoryLayout::kRowMajor;
  const Codec* codec = nullptr;  ///< null where it travels as it is
  std::uint64_t travelling_bytes = 0;
};

/// A tensor's place in a payload that is to come.
struct ComingTensor {
  Tensor tensor;  ///< shares its memory with those in the body
  const Codec* codec = nullptr;
  std::uint64_t travelling_bytes =
      0;  ///< bytes of its encoding, if there is a codec; else of the tensor
};

/// The function that gives a tensor of the metadata its memory. `offset`: of its bytes in the
/// payload; none if a codec makes them. `offset`: of its bytes in the payload; none where a codec
/// makes them.
using TensorMaker = std::function<Expected<Tensor>(DType dtype, Shape shape, MemoryLayout layout,
                                                   std::optional<std::uint64_t> offset)>;

/// Reads the metadata of one message after another, in memory that it keeps between them.
///
/// Threads: one owner.
class MetadataReader {
 public:
  /// Makes a reader. What messages keep comes from `pool`.
  MetadataReader(const FrameLimits& limits, std::shared_ptr<MessagePool> pool)
      : limits_(limits), pool_(std::move(pool)) {}

  /// Sets timeline and body; the memory of the body's tensors is not filled yet. `payload_bytes` is
  /// what the header announced. Tensors that do not fill exactly that, or are over the limit once
  /// decoded, are refused before anything is allocated for them.
  /// Fails: kCorrupt, kExhausted.
  Expected<> read(std::span<const std::byte> bytes, std::uint64_t payload_bytes,
                  const TensorMaker& make, Message& into);
  void set_max_frame_bytes(std::uint64_t bytes) { limits_.max_frame_bytes = bytes; }
  /// Returns the tensors of the message last read, in the order of the payload. They are cleared by
  /// clear_tensors() and by the next read().
  std::span<ComingTensor> tensors() { return tensors_; }
  void clear_tensors();

 private:
  Expected<> read_timeline(ByteReader& reader, Timeline& timeline);
  Expected<> read_descriptors(ByteReader& reader, std::uint64_t payload_bytes);
  Expected<Descriptor> read_descriptor(ByteReader& reader);

  FrameLimits limits_;
  const std::shared_ptr<MessagePool> pool_;
  std::vector<Descriptor> descriptors_;
  std::vector<ComingTensor> tensors_;
};

}  // namespace pareto::wire
