#include "core/wire/bytes.h"
#include "core/wire/header.h"
#include "core/wire/metadata.h"
#include "core/wire/value_tag.h"

namespace pareto::wire {
namespace {

/// Checks the sizes of one tensor, all but its place in the payload; returns its bytes in memory.
Expected<std::uint64_t> check_descriptor(Descriptor& descriptor, std::uint64_t payload_bytes,
                                         const FrameLimits& limits) {
  const auto elements = element_count(descriptor.shape);
  const std::uint64_t element_bytes = size_of(descriptor.dtype);
  const auto misfit = [&] {
    return fail(ErrorCode::kCorrupt, "one of shape {} does not fit a payload of {} bytes",
                to_string(descriptor.shape), payload_bytes);
  };
  if (!elements) return misfit();
  const auto count = static_cast<std::uint64_t>(*elements);
  if (descriptor.codec == nullptr) {
    if (count > payload_bytes / element_bytes) return misfit();
    descriptor.travelling_bytes = count * element_bytes;
    return descriptor.travelling_bytes;
  }
  // Few bytes may stand for many: here the limit bounds them, not what is there.
  if (count > limits.max_frame_bytes / element_bytes) {
    return fail(ErrorCode::kExhausted,
                "one of shape {}; at most {} bytes a frame are allowed, decoded or not "
                "(max_frame)",
                to_string(descriptor.shape), limits.max_frame_bytes);
  }
  if (descriptor.travelling_bytes > payload_bytes) return misfit();
  if (descriptor.travelling_bytes == 0 || descriptor.travelling_bytes >= count * element_bytes) {
    return fail(ErrorCode::kCorrupt, "{} bytes that {} made of {}", descriptor.travelling_bytes,
                descriptor.codec->name(), count * element_bytes);
  }
  return count * element_bytes;
}

class TreeReader {
 public:
  TreeReader(ByteReader& reader, std::span<const ComingTensor> tensors, const FrameLimits& limits,
             MessagePool& pool)
      : reader_(reader), tensors_(tensors), limits_(limits), pool_(pool) {}

  Expected<Value> read(std::uint32_t depth = 1) {
    PARETO_TRY(count_value(limits_, depth, values_));
    PARETO_ASSIGN(const auto tag, reader_.get<std::uint8_t>(kWhat));
    switch (static_cast<ValueTag>(tag)) {
      case ValueTag::kNone:
        return Value(None{});
      case ValueTag::kUninitialized:
        return Value(Uninitialized{});
      case ValueTag::kBool: {
        PARETO_ASSIGN(const auto held, reader_.get<std::uint8_t>(kWhat));
        if (held > 1) return fail(ErrorCode::kCorrupt, "a bool of value {}", held);
        return Value(held == 1);
      }
      case ValueTag::kInt: {
        PARETO_ASSIGN(const auto held, reader_.get<std::int64_t>(kWhat));
        return Value(held);
      }
      case ValueTag::kFloat: {
        PARETO_ASSIGN(const auto held, reader_.get<double>(kWhat));
        return Value(held);
      }
      case ValueTag::kString: {
        PARETO_ASSIGN(const auto size, reader_.get<std::uint32_t>(kWhat));
        PARETO_ASSIGN(const auto held, reader_.get_text(size, "a string"));
        return Value(std::string(held));
      }
      case ValueTag::kList: {
        PARETO_ASSIGN(auto items, read_items(depth));
        return Value(List{std::move(items)});
      }
      case ValueTag::kTuple: {
        PARETO_ASSIGN(auto items, read_items(depth));
        return Value(Tuple{std::move(items)});
      }
      case ValueTag::kDict:
        return read_dict(depth);
      case ValueTag::kTensor:
        return read_tensor();
    }
    return fail(ErrorCode::kCorrupt, "unknown value tag {}", tag);
  }

  /// Every tensor of the payload has its place in the tree.
  Expected<> finish() const {
    if (used_ != tensors_.size()) {
      return fail(ErrorCode::kCorrupt, "{} tensors, of which the value tree names {}",
                  tensors_.size(), used_);
    }
    return {};
  }

 private:
  static constexpr std::string_view kWhat = "the value tree";

  /// Reads a count. Every item takes `item_bytes` at least, so a count can be checked before there
  /// is room made for it.
  Expected<std::uint32_t> read_count(std::size_t item_bytes) {
    PARETO_ASSIGN(const auto count, reader_.get<std::uint32_t>(kWhat));
    if (count > reader_.left() / item_bytes) {
      return fail(ErrorCode::kCorrupt, "the metadata ends inside a container of {} items", count);
    }
    if (count > limits_.max_values - values_) {
      return fail(ErrorCode::kExhausted, "the value tree has more than {} values",
                  limits_.max_values);
    }
    return count;
  }

  Expected<std::vector<Value>> read_items(std::uint32_t depth) {
    PARETO_ASSIGN(const auto count, read_count(1));
    std::vector<Value> items = pool_.values.take(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      PARETO_ASSIGN(Value item, read(depth + 1));
      items.push_back(std::move(item));
    }
    return items;
  }

  Expected<Value> read_dict(std::uint32_t depth) {
    PARETO_ASSIGN(const auto count, read_count(2));
    Dict dict{pool_.pairs.take(count)};
    for (std::uint32_t i = 0; i < count; ++i) {
      PARETO_ASSIGN(Value key, read(depth + 1));
      PARETO_ASSIGN(Value item, read(depth + 1));
      dict.items.emplace_back(std::move(key), std::move(item));
    }
    return Value(std::move(dict));
  }

  Expected<Value> read_tensor() {
    PARETO_ASSIGN(const auto index, reader_.get<std::uint32_t>(kWhat));
    // New tensors come in order, so that one message has one encoding.
    if (index > used_ || index >= tensors_.size()) {
      return fail(ErrorCode::kCorrupt, "the value tree names tensor {} of {} out of order", index,
                  tensors_.size());
    }
    if (index == used_) ++used_;
    const Tensor& tensor = tensors_[index].tensor;
    Shape shape = pool_.shapes.take(tensor.shape().size());
    shape.assign(tensor.shape().begin(), tensor.shape().end());
    PARETO_ASSIGN(Tensor shared,
                  Tensor::borrow(tensor.dtype(), std::move(shape), tensor.bytes().data(),
                                 tensor.owner(), tensor.layout()));
    return Value(std::move(shared));
  }

  ByteReader& reader_;
  std::span<const ComingTensor> tensors_;
  const FrameLimits& limits_;
  MessagePool& pool_;
  std::uint32_t values_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace

Expected<> MetadataReader::read_timeline(ByteReader& reader, Timeline& timeline) {
  PARETO_ASSIGN(const auto count, reader.get<std::uint32_t>("the timeline"));
  if (count > limits_.max_timeline) {
    return fail(ErrorCode::kExhausted, "a timeline of {} entries; at most {} are allowed", count,
                limits_.max_timeline);
  }
  // With room for the entry of the stage that receives it.
  timeline = pool_->timelines.take(count + 1);
  timeline.resize(count);
  for (StageTimes& entry : timeline) {
    PARETO_ASSIGN(entry.stage, reader.get<std::uint32_t>("the timeline"));
    for (Nanoseconds* time :
         {&entry.arrived, &entry.receive, &entry.decode, &entry.queue, &entry.compute,
          &entry.encode, &entry.send, &entry.receive_cpu, &entry.compute_cpu, &entry.send_cpu}) {
      PARETO_ASSIGN(const auto count_ns, reader.get<std::int64_t>("the timeline"));
      *time = Nanoseconds(count_ns);
    }
  }
  return {};
}

Expected<Descriptor> MetadataReader::read_descriptor(ByteReader& reader) {
  constexpr std::string_view kWhat = "the tensor descriptors";
  PARETO_ASSIGN(const auto dtype_number, reader.get<std::uint8_t>(kWhat));
  PARETO_ASSIGN(const auto rank, reader.get<std::uint8_t>(kWhat));
  PARETO_ASSIGN(const auto codec_number, reader.get<std::uint8_t>(kWhat));
  PARETO_ASSIGN(const auto layout_number, reader.get<std::uint8_t>(kWhat));
  const auto dtype = dtype_from_number(dtype_number);
  if (!dtype) return fail(ErrorCode::kCorrupt, "a tensor of unknown dtype {}", dtype_number);
  const auto layout = static_cast<MemoryLayout>(layout_number);
  if (layout_number > 1 || !suits(layout, rank)) {
    return fail(ErrorCode::kCorrupt, "a tensor of rank {} in layout {}", rank, layout_number);
  }
  if (rank > limits_.max_rank) {
    return fail(ErrorCode::kExhausted, "a tensor has {} dimensions; at most {} are allowed", rank,
                limits_.max_rank);
  }
  Descriptor descriptor{.dtype = *dtype, .shape = pool_->shapes.take(rank), .layout = layout};
  descriptor.shape.resize(rank);
  for (std::int64_t& size : descriptor.shape) {
    PARETO_ASSIGN(size, reader.get<std::int64_t>(kWhat));
  }
  if (codec_number == 0) return descriptor;
  descriptor.codec = codec_of_number(codec_number);
  if (descriptor.codec == nullptr) {
    return fail(ErrorCode::kCorrupt, "a tensor of unknown codec {}", codec_number);
  }
  if (!descriptor.codec->takes(*dtype)) {
    return fail(ErrorCode::kCorrupt, "{} does not make tensors of {}", descriptor.codec->name(),
                to_string(*dtype));
  }
  PARETO_ASSIGN(descriptor.travelling_bytes, reader.get<std::uint64_t>(kWhat));
  return descriptor;
}

/// Reads all descriptors and checks that they fill the payload exactly and memory not over the
/// limit. Allocates nothing for the payload.
Expected<> MetadataReader::read_descriptors(ByteReader& reader, std::uint64_t payload_bytes) {
  descriptors_.clear();
  PARETO_ASSIGN(const auto count, reader.get<std::uint32_t>("the tensor descriptors"));
  if (count > limits_.max_tensors) {
    return fail(ErrorCode::kExhausted, "{} tensors; at most {} are allowed", count,
                limits_.max_tensors);
  }
  std::uint64_t end = 0;
  std::uint64_t decoded = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    PARETO_ASSIGN(Descriptor descriptor, read_descriptor(reader));
    PARETO_ASSIGN(
        const std::uint64_t bytes,
        with_context(check_descriptor(descriptor, payload_bytes, limits_), "tensor {}", i));
    // Only where there is no limit can it be over what 64 bits hold.
    if (__builtin_add_overflow(decoded, bytes, &decoded)) decoded = ~std::uint64_t{0};
    PARETO_TRY(check_decoded(decoded, limits_));
    end = aligned(end) + descriptor.travelling_bytes;
    if (end > payload_bytes) {
      return fail(ErrorCode::kCorrupt, "tensor {} ends at byte {} of a payload of {}", i, end,
                  payload_bytes);
    }
    descriptors_.push_back(std::move(descriptor));
  }
  if (end != payload_bytes) {
    return fail(ErrorCode::kCorrupt, "the tensors take {} bytes of a payload of {}", end,
                payload_bytes);
  }
  return {};
}

Expected<> MetadataReader::read(std::span<const std::byte> bytes, std::uint64_t payload_bytes,
                                const TensorMaker& make, Message& into) {
  clear_tensors();
  ByteReader reader(bytes);
  PARETO_TRY(read_timeline(reader, into.timeline));
  PARETO_TRY(read_descriptors(reader, payload_bytes));
  std::uint64_t end = 0;
  for (Descriptor& descriptor : descriptors_) {
    const std::uint64_t start = aligned(end);
    end = start + descriptor.travelling_bytes;
    const auto offset = descriptor.codec == nullptr ? std::optional(start) : std::nullopt;
    PARETO_ASSIGN(Tensor tensor,
                  make(descriptor.dtype, std::move(descriptor.shape), descriptor.layout, offset));
    tensors_.push_back({std::move(tensor), descriptor.codec, descriptor.travelling_bytes});
  }
  TreeReader tree(reader, tensors_, limits_, *pool_);
  PARETO_ASSIGN(into.body, tree.read());
  PARETO_TRY(tree.finish());
  if (reader.left() != 0) {
    return fail(ErrorCode::kCorrupt, "{} bytes of metadata after the value tree", reader.left());
  }
  return {};
}

void MetadataReader::clear_tensors() {
  for (ComingTensor& coming : tensors_) pool_->shapes.put(std::move(coming.tensor).take_shape());
  tensors_.clear();
}

}  // namespace pareto::wire
