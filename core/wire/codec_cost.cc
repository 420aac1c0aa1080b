#include "core/wire/codec_cost.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "core/wire/codec_error.h"
#include "core/wire/frame.h"

namespace pareto::wire {
namespace {

constexpr int kTurns = 9;

std::vector<std::byte> joined(EncodedFrame& frame) {
  std::vector<std::byte> bytes;
  bytes.reserve(frame.size_bytes());
  for (const EncodedFrame::Piece& piece : frame.pieces()) {
    bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
  }
  return bytes;
}

double worst_error(const Value& original, const Value& decoded) {
  const auto before = tensors_of(original);
  const auto after = tensors_of(decoded);
  double worst = 0;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    worst = std::max(worst, codec_error(*before[i], *after[i]).mean);
  }
  return worst;
}

}  // namespace

Expected<CodecCost> codec_cost(const Value& body, const Codec* codec) {
  Message message;
  message.body = body;
  const FrameOptions options{.payload_checksum = false, .codec = codec};
  CodecCost cost;
  cost.codec = codec == nullptr ? "none" : std::string(codec->name());
  // Its pool gives every turn but the first memory that was used before, as on a link.
  FrameDecoder decoder;
  for (int turn = 0; turn < kTurns; ++turn) {
    PARETO_ASSIGN(EncodedFrame frame, encode_frame(message, options));
    cost.bytes = frame.size_bytes();
    if (codec == nullptr) return cost;
    cost.encode = std::min(turn == 0 ? Nanoseconds::max() : cost.encode, frame.encoding());
    PARETO_TRY(decoder.feed(joined(frame)));
    cost.decode = std::min(turn == 0 ? Nanoseconds::max() : cost.decode, decoder.decoding());
    const Message decoded = decoder.take();
    if (turn == 0 && !codec->lossless()) cost.error = worst_error(body, decoded.body);
  }
  return cost;
}

Expected<std::vector<CodecCost>> codec_costs(const Value& body) {
  std::vector<CodecCost> costs;
  PARETO_ASSIGN(CodecCost none, codec_cost(body, nullptr));
  costs.push_back(std::move(none));
  for (const Codec* const codec : builtin_codecs()) {
    PARETO_ASSIGN(CodecCost cost, with_context(codec_cost(body, codec), "codec {}", codec->name()));
    costs.push_back(std::move(cost));
  }
  return costs;
}

Expected<Value> standard_activations() {
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(DType::kFloat32, {1, 64, 56, 56}));
  std::mt19937 random(1);
  std::normal_distribution<float> noise;
  for (std::size_t at = 0; at < tensor.size_bytes(); at += sizeof(float)) {
    const float activation = std::max(noise(random), 0.0F);
    std::memcpy(tensor.mutable_bytes().data() + at, &activation, sizeof(activation));
  }
  return Value(std::move(tensor));
}

}  // namespace pareto::wire
