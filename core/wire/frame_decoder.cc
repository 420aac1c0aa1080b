#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/wire/bytes.h"
#include "core/wire/frame.h"
#include "core/wire/header.h"
#include "core/wire/metadata.h"

namespace pareto::wire {

FrameDecoder::FrameDecoder(const FrameLimits& limits)
    : limits_(limits),
      messages_(std::make_shared<MessagePool>()),
      metadata_reader_(std::make_unique<MetadataReader>(limits_, messages_)) {}

FrameDecoder::~FrameDecoder() = default;

void FrameDecoder::set_max_frame_bytes(std::uint64_t bytes) {
  limits_.max_frame_bytes = bytes;
  metadata_reader_->set_max_frame_bytes(bytes);
}

std::size_t FrameDecoder::next(std::span<std::span<std::byte>> out) {
  if (out.empty()) return 0;
  switch (phase_) {
    case Phase::kHeader:
      out[0] = std::span(header_).subspan(offset_);
      return 1;
    case Phase::kMetadata:
      out[0] = std::span(metadata_).subspan(offset_);
      return 1;
    case Phase::kPayload: {
      std::size_t count = 0;
      for (std::size_t i = piece_; i < pieces_.size() && count < out.size(); ++i) {
        out[count++] = i == piece_ ? pieces_[i].bytes.subspan(offset_) : pieces_[i].bytes;
      }
      return count;
    }
    case Phase::kComplete:
      break;
  }
  return 0;
}

Expected<> FrameDecoder::advance(std::size_t bytes) {
  received_ += bytes;
  if (phase_ == Phase::kHeader) {
    offset_ += bytes;
    return offset_ < header_.size() ? Expected<>{} : accept_header();
  }
  if (phase_ == Phase::kMetadata) {
    offset_ += bytes;
    return offset_ < metadata_.size() ? Expected<>{} : accept_metadata();
  }
  while (bytes > 0 && piece_ < pieces_.size()) {
    const Piece& piece = pieces_[piece_];
    const std::size_t taken = std::min(bytes, piece.bytes.size() - offset_);
    PARETO_TRY(accept_payload(piece.bytes.subspan(offset_, taken), piece.part));
    bytes -= taken;
    offset_ += taken;
    if (offset_ == piece.bytes.size()) {
      ++piece_;
      offset_ = 0;
    }
  }
  return piece_ == pieces_.size() ? finish_payload() : Expected<>{};
}

Expected<std::size_t> FrameDecoder::feed(std::span<const std::byte> bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && !complete()) {
    std::array<std::span<std::byte>, 1> target;
    next(target);
    const std::size_t count = std::min(target[0].size(), bytes.size() - used);
    std::memcpy(target[0].data(), bytes.data() + used, count);
    used += count;
    PARETO_TRY(advance(count));
  }
  return used;
}

Message FrameDecoder::take() {
  phase_ = Phase::kHeader;
  received_ = 0;
  return std::exchange(message_, Message());
}

Expected<> FrameDecoder::accept_header() {
  PARETO_ASSIGN(const Header header, read_header(header_, limits_));
  if (header.metadata_bytes == 0) return fail(ErrorCode::kCorrupt, "a frame without metadata");
  message_.kind = header.kind;
  message_.pipeline = header.pipeline;
  message_.request = header.request;
  message_.sequence = header.sequence;
  message_.time_left = header.time_left;
  message_.priority = header.priority;
  metadata_.resize(header.metadata_bytes);
  metadata_checksum_ = header.metadata_checksum;
  payload_bytes_ = header.payload_bytes;
  payload_summed_ = header.payload_checksum_follows;
  phase_ = Phase::kMetadata;
  offset_ = 0;
  return {};
}

Expected<> FrameDecoder::accept_metadata() {
  if (checksum(metadata_) != metadata_checksum_) {
    return fail(ErrorCode::kCorrupt, "the metadata's checksum is wrong");
  }
  const auto make = [this](DType dtype, Shape shape, MemoryLayout layout, auto) {
    return tensors_.allocate(dtype, std::move(shape), layout);
  };
  message_.pool = messages_;
  PARETO_TRY(metadata_reader_->read(metadata_, payload_bytes_, make, message_));
  sum_.reset();
  phase_ = Phase::kPayload;
  offset_ = 0;
  PARETO_TRY(lay_out_payload());
  return pieces_.empty() ? finish_payload() : Expected<>{};
}

Expected<> FrameDecoder::lay_out_payload() {
  const std::span<ComingTensor> tensors = metadata_reader_->tensors();
  pieces_.clear();
  encoded_.clear();
  piece_ = 0;
  std::uint64_t tensor_bytes = 0;
  for (const ComingTensor& coming : tensors) tensor_bytes += coming.travelling_bytes;
  padding_.resize(payload_bytes_ - tensor_bytes);

  std::size_t padding_used = 0;
  std::uint64_t end = 0;
  for (ComingTensor& coming : tensors) {
    const std::uint64_t start = aligned(end);
    if (start != end) {
      pieces_.push_back({std::span(padding_).subspan(padding_used, start - end), Part::kPadding});
      padding_used += start - end;
    }
    std::span<std::byte> place = coming.tensor.mutable_bytes();
    if (coming.codec != nullptr) {
      const auto size = static_cast<std::int64_t>(coming.travelling_bytes);
      PARETO_ASSIGN(Tensor bytes, tensors_.allocate(DType::kUInt8, {size}));
      place = bytes.mutable_bytes();
      encoded_.push_back({std::move(bytes), coming.codec, std::move(coming.tensor)});
    }
    if (!place.empty()) pieces_.push_back({place, Part::kTensor});
    end = start + place.size();
  }
  metadata_reader_->clear_tensors();
  if (payload_summed_) pieces_.push_back({trailer_, Part::kTrailer});
  return {};
}

Expected<> FrameDecoder::accept_payload(std::span<const std::byte> bytes, Part part) {
  if (part == Part::kTrailer) return {};
  // Summed as it arrives, while it is still in the cache.
  if (payload_summed_) sum_.update(bytes);
  if (part == Part::kPadding &&
      std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return fail(ErrorCode::kCorrupt, "the padding between tensors is not zero");
  }
  return {};
}

Expected<> FrameDecoder::finish_payload() {
  if (payload_summed_ && load<std::uint64_t>(trailer_, 0) != sum_.value()) {
    return fail(ErrorCode::kCorrupt, "the payload's checksum is wrong");
  }
  PARETO_TRY(decode_tensors());
  pieces_.clear();
  phase_ = Phase::kComplete;
  offset_ = 0;
  return {};
}

Expected<> FrameDecoder::decode_tensors() {
  decoding_ = {};
  if (encoded_.empty()) return {};
  const auto start = std::chrono::steady_clock::now();
  for (Encoded& encoded : encoded_) {
    PARETO_TRY(with_context(encoded.codec->decode(encoded.bytes.bytes(), encoded.into),
                            "a tensor of shape {}", to_string(encoded.into.shape())));
  }
  encoded_.clear();
  decoding_ = std::chrono::steady_clock::now() - start;
  return {};
}

}  // namespace pareto::wire
