#include <algorithm>
#include <chrono>
#include <utility>

#include "core/wire/bytes.h"
#include "core/wire/header.h"
#include "core/wire/metadata.h"
#include "core/wire/value_tag.h"

namespace pareto::wire {
namespace {

// What a descriptor takes more for a tensor that a codec made.
constexpr std::size_t kEncodedSizeBytes = sizeof(std::uint64_t);

Expected<> encode(const Codec& codec, SentTensor& sent) {
  const std::size_t size = sent.tensor->size_bytes();
  if (size <= kEncodedSizeBytes || !codec.takes(sent.tensor->dtype())) return {};
  auto encoding = codec.encode(*sent.tensor);
  if (!encoding && encoding.error().code == ErrorCode::kInvalidArgument) return {};
  PARETO_TRY(encoding);
  if (encoding->size_bytes() + kEncodedSizeBytes >= size) return {};
  sent.codec = &codec;
  sent.encoding = *std::move(encoding);
  return {};
}

void write_timeline(ByteWriter& bytes, const Timeline& timeline) {
  bytes.put(static_cast<std::uint32_t>(timeline.size()));
  for (const StageTimes& entry : timeline) {
    bytes.put(entry.stage);
    for (const Nanoseconds time :
         {entry.arrived, entry.receive, entry.decode, entry.queue, entry.compute, entry.encode,
          entry.send, entry.receive_cpu, entry.compute_cpu, entry.send_cpu}) {
      bytes.put(static_cast<std::int64_t>(time.count()));
    }
  }
}

void write_descriptors(ByteWriter& bytes, std::span<const SentTensor> tensors) {
  bytes.put(static_cast<std::uint32_t>(tensors.size()));
  for (const SentTensor& sent : tensors) {
    bytes.put(static_cast<std::uint8_t>(sent.tensor->dtype()));
    bytes.put(static_cast<std::uint8_t>(sent.tensor->shape().size()));
    bytes.put(sent.codec == nullptr ? std::uint8_t{0} : sent.codec->number());
    bytes.put(static_cast<std::uint8_t>(sent.tensor->layout()));
    for (const std::int64_t size : sent.tensor->shape()) bytes.put(size);
    if (sent.encoding) bytes.put(std::uint64_t{sent.encoding->size_bytes()});
  }
}

class TreeWriter {
 public:
  /// `order`: the tensor of each kTensor node.
  TreeWriter(const FrameLimits& limits, std::span<const std::uint32_t> order,
             std::vector<std::byte>& out)
      : limits_(limits), order_(order), bytes_(out), out_(out) {}

  /// Writes a value and all values inside it. Fails: kExhausted.
  Expected<> write(const Value& value) {
    // A tree of a few long strings is small in every count; its bytes are bounded here.
    if (out_.size() > limits_.max_metadata_bytes + kHeaderBytes) return too_long();
    return std::visit([this](const auto& held) { return write_held(held); }, value.storage());
  }

 private:
  Expected<> write_held(None) { return tag(ValueTag::kNone); }
  Expected<> write_held(Uninitialized) { return tag(ValueTag::kUninitialized); }
  Expected<> write_held(bool held) { return tag(ValueTag::kBool, std::uint8_t{held}); }
  Expected<> write_held(std::int64_t held) { return tag(ValueTag::kInt, held); }
  Expected<> write_held(double held) { return tag(ValueTag::kFloat, held); }
  Expected<> write_held(const std::string& held) {
    if (held.size() > limits_.max_metadata_bytes) return too_long();
    PARETO_TRY(tag(ValueTag::kString, static_cast<std::uint32_t>(held.size())));
    bytes_.put(std::string_view(held));
    return {};
  }
  Expected<> write_held(const Tensor&) { return tag(ValueTag::kTensor, order_[visited_++]); }
  Expected<> write_held(const List& held) { return write_items(ValueTag::kList, held.items); }
  Expected<> write_held(const Tuple& held) { return write_items(ValueTag::kTuple, held.items); }
  Expected<> write_held(const Dict& held) {
    PARETO_TRY(tag(ValueTag::kDict, static_cast<std::uint32_t>(held.items.size())));
    for (const auto& [key, item] : held.items) {
      PARETO_TRY(write(key));
      PARETO_TRY(write(item));
    }
    return {};
  }

  Expected<> write_items(ValueTag kind, const std::vector<Value>& items) {
    PARETO_TRY(tag(kind, static_cast<std::uint32_t>(items.size())));
    for (const Value& item : items) PARETO_TRY(write(item));
    return {};
  }

  template <typename... Number>
  Expected<> tag(ValueTag kind, Number... number) {
    bytes_.put(static_cast<std::uint8_t>(kind));
    (bytes_.put(number), ...);
    return {};
  }

  tl::unexpected<Error> too_long() const {
    return fail(ErrorCode::kExhausted, "the metadata takes more than {} bytes",
                limits_.max_metadata_bytes);
  }

  const FrameLimits& limits_;
  const std::span<const std::uint32_t> order_;
  ByteWriter bytes_;
  std::vector<std::byte>& out_;
  std::size_t visited_ = 0;
};

}  // namespace

Expected<> MetadataWriter::find_tensors(const Value& value, std::uint32_t depth) {
  PARETO_TRY(count_value(limits_, depth, values_));
  if (const auto* tensor = value.get_if<Tensor>()) {
    // The descriptor keeps the rank in a byte.
    const std::size_t max_rank = std::min<std::size_t>(limits_.max_rank, 255);
    if (tensor->shape().size() > max_rank) {
      return fail(ErrorCode::kExhausted, "a tensor has {} dimensions; at most {} are allowed",
                  tensor->shape().size(), max_rank);
    }
    nodes_.push_back(tensor);
  } else if (const auto* list = value.get_if<List>()) {
    for (const Value& item : list->items) PARETO_TRY(find_tensors(item, depth + 1));
  } else if (const auto* tuple = value.get_if<Tuple>()) {
    for (const Value& item : tuple->items) PARETO_TRY(find_tensors(item, depth + 1));
  } else if (const auto* dict = value.get_if<Dict>()) {
    for (const auto& [key, item] : dict->items) {
      PARETO_TRY(find_tensors(key, depth + 1));
      PARETO_TRY(find_tensors(item, depth + 1));
    }
  }
  return {};
}

/// Sets order_ to the first node of the same bytes, dtype, shape and layout. A list on a boundary
/// often holds tensors that cross on their own too: their bytes travel once.
void MetadataWriter::find_shared_bytes() {
  order_.resize(nodes_.size());
  by_address_.clear();
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    order_[node] = node;
    if (nodes_[node]->size_bytes() > 0) by_address_.push_back(node);
  }
  const auto address = [this](std::uint32_t node) { return nodes_[node]->bytes().data(); };
  std::ranges::sort(by_address_, {},
                    [&](std::uint32_t node) { return std::pair(address(node), node); });
  for (std::size_t begin = 0, i = 0; i < by_address_.size(); ++i) {
    const std::uint32_t node = by_address_[i];
    if (address(by_address_[begin]) != address(node)) begin = i;
    for (std::size_t earlier = begin; earlier < i; ++earlier) {
      const std::uint32_t other = by_address_[earlier];
      if (order_[other] == other && nodes_[other]->dtype() == nodes_[node]->dtype() &&
          nodes_[other]->shape() == nodes_[node]->shape() &&
          nodes_[other]->layout() == nodes_[node]->layout()) {
        order_[node] = other;
        break;
      }
    }
  }
}

Expected<> MetadataWriter::number_tensors() {
  find_shared_bytes();
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (order_[node] != node) {
      order_[node] = order_[order_[node]];
      continue;
    }
    if (tensors_.size() >= limits_.max_tensors) {
      return fail(ErrorCode::kExhausted, "more than {} tensors", limits_.max_tensors);
    }
    order_[node] = static_cast<std::uint32_t>(tensors_.size());
    tensors_.push_back({.tensor = nodes_[node], .codec = nullptr, .encoding = {}});
  }
  return {};
}

/// Checks that the receiver may hold them.
Expected<> MetadataWriter::check_memory() const {
  std::uint64_t bytes = 0;
  for (const SentTensor& sent : tensors_) {
    bytes += sent.tensor->size_bytes();
    PARETO_TRY(check_decoded(bytes, limits_));
  }
  return {};
}

Expected<> MetadataWriter::encode_tensors(const Codec& codec) {
  const auto start = std::chrono::steady_clock::now();
  for (SentTensor& sent : tensors_) PARETO_TRY(encode(codec, sent));
  encoding_ = std::chrono::steady_clock::now() - start;
  return {};
}

Expected<> MetadataWriter::write(const Message& message, const Codec* codec,
                                 std::vector<std::byte>& out) {
  clear();
  if (message.timeline.size() > limits_.max_timeline) {
    return fail(ErrorCode::kExhausted, "a timeline of {} entries; at most {} are allowed",
                message.timeline.size(), limits_.max_timeline);
  }
  PARETO_TRY(find_tensors(message.body, 1));
  PARETO_TRY(number_tensors());
  PARETO_TRY(check_memory());
  if (codec != nullptr) PARETO_TRY(encode_tensors(*codec));
  ByteWriter bytes(out);
  write_timeline(bytes, message.timeline);
  write_descriptors(bytes, tensors_);
  return TreeWriter(limits_, order_, out).write(message.body);
}

void MetadataWriter::clear() {
  values_ = 0;
  nodes_.clear();
  tensors_.clear();
  encoding_ = {};
}

}  // namespace pareto::wire
