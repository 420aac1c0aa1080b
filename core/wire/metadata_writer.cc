#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "core/wire/bytes.h"
#include "core/wire/header.h"
#include "core/wire/metadata.h"
#include "core/wire/value_tag.h"

namespace pareto::wire {
namespace {

/// Walks the tree twice: first to number its tensors, then to write it.
class TreeWriter {
 public:
  TreeWriter(const FrameLimits& limits, std::vector<std::byte>& out)
      : limits_(limits), bytes_(out), out_(out) {}

  Expected<> number_tensors(const Value& value, std::uint32_t depth = 1) {
    if (depth > limits_.max_depth) {
      return fail(ErrorCode::kExhausted, "the value tree is deeper than {} levels",
                  limits_.max_depth);
    }
    if (++values_ > limits_.max_values) {
      return fail(ErrorCode::kExhausted, "the value tree has more than {} values",
                  limits_.max_values);
    }
    if (const auto* tensor = value.get_if<Tensor>()) return number(*tensor);
    if (const auto* list = value.get_if<List>()) {
      for (const Value& item : list->items) PARETO_TRY(number_tensors(item, depth + 1));
    } else if (const auto* tuple = value.get_if<Tuple>()) {
      for (const Value& item : tuple->items) PARETO_TRY(number_tensors(item, depth + 1));
    } else if (const auto* dict = value.get_if<Dict>()) {
      for (const auto& [key, item] : dict->items) {
        PARETO_TRY(number_tensors(key, depth + 1));
        PARETO_TRY(number_tensors(item, depth + 1));
      }
    }
    return {};
  }

  /// After number_tensors(): that the receiver may hold them. Fails: kExhausted.
  Expected<> check_memory() const {
    std::uint64_t bytes = 0;
    for (const SentTensor& sent : tensors_) {
      bytes += sent.tensor.size_bytes();
      PARETO_TRY(check_decoded(bytes, limits_));
    }
    return {};
  }

  /// After number_tensors(). Fails: kExhausted.
  Expected<> encode_tensors(const Codec& codec) {
    const auto start = std::chrono::steady_clock::now();
    for (SentTensor& sent : tensors_) PARETO_TRY(encode(codec, sent));
    encoding_ = std::chrono::steady_clock::now() - start;
    return {};
  }

  void write_descriptors() {
    bytes_.put(static_cast<std::uint32_t>(tensors_.size()));
    for (const SentTensor& sent : tensors_) {
      bytes_.put(static_cast<std::uint8_t>(sent.tensor.dtype()));
      bytes_.put(static_cast<std::uint8_t>(sent.tensor.shape().size()));
      bytes_.put(sent.codec == nullptr ? std::uint8_t{0} : sent.codec->number());
      bytes_.put(std::uint8_t{0});
      for (const std::int64_t size : sent.tensor.shape()) bytes_.put(size);
      if (sent.codec != nullptr) bytes_.put(std::uint64_t{sent.encoding.size_bytes()});
    }
  }

  /// After number_tensors(): visits tensors in the same order. Fails: kExhausted.
  Expected<> write(const Value& value) {
    // A tree of a few long strings is small in every count; its bytes are bounded here.
    if (out_.size() > limits_.max_metadata_bytes + kHeaderBytes) return too_long();
    return std::visit([this](const auto& held) { return write_held(held); }, value.storage());
  }

  SentPayload take_payload() { return {std::move(tensors_), encoding_}; }

 private:
  static Expected<> encode(const Codec& codec, SentTensor& sent) {
    // What a descriptor takes more for it.
    constexpr std::size_t kSizeBytes = sizeof(std::uint64_t);
    const std::size_t size = sent.tensor.size_bytes();
    if (size <= kSizeBytes || !codec.takes(sent.tensor.dtype())) return {};
    auto encoding = codec.encode(sent.tensor);
    if (!encoding && encoding.error().code == ErrorCode::kInvalidArgument) return {};
    PARETO_TRY(encoding);
    if (encoding->size_bytes() + kSizeBytes >= size) return {};
    sent.codec = &codec;
    sent.encoding = *std::move(encoding);
    return {};
  }

  Expected<> number(const Tensor& tensor) {
    // The descriptor keeps the rank in a byte.
    const std::size_t max_rank = std::min<std::size_t>(limits_.max_rank, 255);
    if (tensor.shape().size() > max_rank) {
      return fail(ErrorCode::kExhausted, "a tensor has {} dimensions; at most {} are allowed",
                  tensor.shape().size(), max_rank);
    }
    const auto next = static_cast<std::uint32_t>(tensors_.size());
    std::uint32_t index = next;
    // A list on a boundary often holds tensors that cross on their own too: their bytes travel once.
    if (tensor.size_bytes() > 0) {
      auto& candidates = by_address_[tensor.bytes().data()];
      for (const std::uint32_t candidate : candidates) {
        const Tensor& other = tensors_[candidate].tensor;
        if (other.dtype() == tensor.dtype() && other.shape() == tensor.shape()) index = candidate;
      }
      if (index == next) candidates.push_back(next);
    }
    if (index == next) {
      if (tensors_.size() >= limits_.max_tensors) {
        return fail(ErrorCode::kExhausted, "more than {} tensors", limits_.max_tensors);
      }
      tensors_.push_back({.tensor = tensor, .codec = nullptr, .encoding = {}});
    }
    order_.push_back(index);
    return {};
  }

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
  ByteWriter bytes_;
  std::vector<std::byte>& out_;
  std::uint32_t values_ = 0;
  std::vector<SentTensor> tensors_;
  Nanoseconds encoding_{};
  std::unordered_map<const std::byte*, std::vector<std::uint32_t>> by_address_;
  std::vector<std::uint32_t> order_;  // the tensor of each kTensor node
  std::size_t visited_ = 0;
};

}  // namespace

Expected<SentPayload> write_metadata(const Message& message, const Codec* codec,
                                     const FrameLimits& limits, std::vector<std::byte>& out) {
  if (message.timeline.size() > limits.max_timeline) {
    return fail(ErrorCode::kExhausted, "a timeline of {} entries; at most {} are allowed",
                message.timeline.size(), limits.max_timeline);
  }
  ByteWriter bytes(out);
  bytes.put(static_cast<std::uint32_t>(message.timeline.size()));
  for (const StageTimes& entry : message.timeline) {
    bytes.put(entry.stage);
    for (const Nanoseconds time :
         {entry.arrived, entry.receive, entry.decode, entry.queue, entry.compute, entry.encode,
          entry.send, entry.receive_cpu, entry.compute_cpu, entry.send_cpu}) {
      bytes.put(static_cast<std::int64_t>(time.count()));
    }
  }
  TreeWriter tree(limits, out);
  PARETO_TRY(tree.number_tensors(message.body));
  PARETO_TRY(tree.check_memory());
  if (codec != nullptr) PARETO_TRY(tree.encode_tensors(*codec));
  tree.write_descriptors();
  PARETO_TRY(tree.write(message.body));
  return tree.take_payload();
}

}  // namespace pareto::wire
