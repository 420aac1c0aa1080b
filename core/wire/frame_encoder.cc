#include <limits>
#include <utility>

#include "core/base/xxhash.h"
#include "core/wire/bytes.h"
#include "core/wire/frame.h"
#include "core/wire/header.h"
#include "core/wire/metadata.h"

namespace pareto::wire {
namespace {

constexpr std::array<std::byte, Tensor::kAlignment> kZeros{};

/// Returns what checksum() returns of all pieces in one run. Takes nothing from the heap, as
/// Checksum would.
std::uint64_t sum_of(std::span<const EncodedFrame::Piece> pieces) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const EncodedFrame::Piece& piece : pieces) {
    XXH3_64bits_update(&state, piece.bytes.data(), piece.bytes.size());
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace

FrameEncoder::FrameEncoder(const FrameOptions& options, const FrameLimits& limits)
    : options_(options), limits_(limits), metadata_(std::make_unique<MetadataWriter>(limits)) {}

FrameEncoder::~FrameEncoder() = default;

Expected<EncodedFrame> FrameEncoder::encode(const Message& message) {
  EncodedFrame frame = std::exchange(spare_, EncodedFrame());
  const auto encoded = encode_into(frame, message);
  metadata_->clear();
  PARETO_TRY(encoded);
  return frame;
}

void FrameEncoder::reuse(EncodedFrame frame) {
  frame.pieces_.clear();
  spare_ = std::move(frame);
}

Expected<EncodedFrame> encode_frame(const Message& message, const FrameOptions& options,
                                    const FrameLimits& limits) {
  return FrameEncoder(options, limits).encode(message);
}

Expected<> FrameEncoder::encode_into(EncodedFrame& frame, const Message& message) {
  if (!is_known(message.kind)) {
    return fail(ErrorCode::kInvalidArgument, "message kind {} does not exist",
                static_cast<int>(message.kind));
  }
  frame.head_.reserve(512);
  frame.head_.resize(kHeaderBytes);
  frame.trailer_.clear();
  // A ping measures the link itself.
  const bool encodes = message.kind == MessageKind::kValues || message.kind == MessageKind::kPart ||
                       message.kind == MessageKind::kTrain ||
                       message.kind == MessageKind::kGradient;
  const Codec* const codec = encodes ? options_.codec : nullptr;
  PARETO_TRY(metadata_->write(message, codec, frame.head_));
  frame.encoding_ = metadata_->encoding();
  const auto metadata = std::span<const std::byte>(frame.head_).subspan(kHeaderBytes);

  std::uint64_t payload_bytes = 0;
  frame.pieces_.clear();
  frame.pieces_.reserve(2 * metadata_->tensors().size() + 1);
  frame.pieces_.push_back({frame.head_, nullptr});
  for (const SentTensor& sent : metadata_->tensors()) {
    const Tensor& tensor = sent.travelling();
    const std::uint64_t start = aligned(payload_bytes);
    if (start != payload_bytes) {
      frame.pieces_.push_back({std::span(kZeros).first(start - payload_bytes), nullptr});
    }
    if (tensor.size_bytes() > 0) frame.pieces_.push_back({tensor.bytes(), tensor.owner()});
    payload_bytes = start + tensor.size_bytes();
    PARETO_TRY(check_sizes(metadata.size(), payload_bytes, limits_));
  }
  PARETO_TRY(check_sizes(metadata.size(), payload_bytes, limits_));
  if (metadata.size() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::kExhausted, "{} bytes of metadata do not fit a frame", metadata.size());
  }

  Header header;
  header.kind = message.kind;
  header.payload_checksum_follows = options_.payload_checksum && payload_bytes > 0;
  header.pipeline = message.pipeline;
  header.request = message.request;
  header.sequence = message.sequence;
  header.time_left = message.time_left;
  header.priority = message.priority;
  header.metadata_bytes = static_cast<std::uint32_t>(metadata.size());
  header.payload_bytes = payload_bytes;
  header.metadata_checksum = checksum(metadata);
  const auto header_bytes = write_header(header);
  std::copy(header_bytes.begin(), header_bytes.end(), frame.head_.begin());
  frame.has_trailer_ = header.payload_checksum_follows;
  frame.size_bytes_ = frame.head_.size() + payload_bytes + (frame.has_trailer_ ? kTrailerBytes : 0);
  return {};
}

std::span<const std::byte> EncodedFrame::trailer() {
  if (!has_trailer_ || !trailer_.empty()) return trailer_;
  const auto payload = std::span(pieces_).subspan(1);
  ByteWriter(trailer_).put(payload.size() == 1 ? checksum(payload.front().bytes) : sum_of(payload));
  return trailer_;
}

}  // namespace pareto::wire
