#include "core/wire/header.h"

#include <algorithm>

#include "core/wire/bytes.h"

namespace pareto::wire {
namespace {

constexpr std::uint32_t kMagic = 0x4D524650;  // "PFRM" as it lies in the frame
constexpr std::uint16_t kFlagPayloadChecksum = 1;

// Offsets of the fields, as in FORMAT.md.
constexpr std::size_t kAtMagic = 0;
constexpr std::size_t kAtVersion = 4;
constexpr std::size_t kAtKind = 5;
constexpr std::size_t kAtFlags = 6;
constexpr std::size_t kAtPipeline = 8;
constexpr std::size_t kAtRequest = 16;
constexpr std::size_t kAtSequence = 24;
constexpr std::size_t kAtMetadataBytes = 28;
constexpr std::size_t kAtPayloadBytes = 32;
constexpr std::size_t kAtTimeLeft = 40;
constexpr std::size_t kAtPriority = 44;
constexpr std::size_t kAtReserved = 45;
constexpr std::size_t kReservedBytes = 3;
constexpr std::size_t kAtMetadataChecksum = 48;
constexpr std::size_t kAtHeaderChecksum = 56;

/// Returns whole microseconds: 0 only for 0, and no more than fit.
std::uint32_t travelling(Nanoseconds time_left) {
  if (time_left == Nanoseconds(0)) return 0;
  const auto whole = std::chrono::floor<std::chrono::microseconds>(time_left).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(whole, 1, UINT32_MAX));
}

template <typename T>
void store(std::array<std::byte, kHeaderBytes>& bytes, std::size_t offset, T number) {
  std::memcpy(bytes.data() + offset, &number, sizeof(T));
}

}  // namespace

bool is_known(MessageKind kind) {
  return kind >= MessageKind::kHello && kind <= MessageKind::kStep;
}

std::array<std::byte, kHeaderBytes> write_header(const Header& header) {
  std::array<std::byte, kHeaderBytes> bytes{};
  store(bytes, kAtMagic, kMagic);
  store(bytes, kAtVersion, kFrameVersion);
  store(bytes, kAtKind, static_cast<std::uint8_t>(header.kind));
  store(bytes, kAtFlags,
        static_cast<std::uint16_t>(header.payload_checksum_follows ? kFlagPayloadChecksum : 0));
  store(bytes, kAtPipeline, header.pipeline);
  store(bytes, kAtRequest, header.request);
  store(bytes, kAtSequence, header.sequence);
  store(bytes, kAtMetadataBytes, header.metadata_bytes);
  store(bytes, kAtPayloadBytes, header.payload_bytes);
  store(bytes, kAtTimeLeft, travelling(header.time_left));
  store(bytes, kAtPriority, header.priority);
  store(bytes, kAtMetadataChecksum, header.metadata_checksum);
  store(bytes, kAtHeaderChecksum, checksum(std::span(bytes).first(kAtHeaderChecksum)));
  return bytes;
}

Expected<Header> read_header(const std::array<std::byte, kHeaderBytes>& bytes,
                             const FrameLimits& limits) {
  if (load<std::uint32_t>(bytes, kAtMagic) != kMagic) {
    return fail(ErrorCode::kCorrupt,
                "these bytes are no frame of ours (they do not start with PFRM)");
  }
  const auto version = load<std::uint8_t>(bytes, kAtVersion);
  if (version != kFrameVersion) {
    return fail(ErrorCode::kCorrupt,
                "a frame of format version {}; this program reads version {}: run the same version "
                "on every device",
                version, kFrameVersion);
  }
  if (load<std::uint64_t>(bytes, kAtHeaderChecksum) !=
      checksum(std::span(bytes).first(kAtHeaderChecksum))) {
    return fail(ErrorCode::kCorrupt, "the header's checksum is wrong");
  }
  const auto kind = load<std::uint8_t>(bytes, kAtKind);
  const auto flags = load<std::uint16_t>(bytes, kAtFlags);
  if (!is_known(static_cast<MessageKind>(kind))) {
    return fail(ErrorCode::kCorrupt, "unknown message kind {}", kind);
  }
  if ((flags & ~kFlagPayloadChecksum) != 0) {
    return fail(ErrorCode::kCorrupt, "unknown flags {:#x}", flags);
  }
  const auto reserved = std::span(bytes).subspan(kAtReserved, kReservedBytes);
  if (std::ranges::any_of(reserved, [](std::byte byte) { return byte != std::byte{}; })) {
    return fail(ErrorCode::kCorrupt, "reserved bytes of the header are not zero");
  }
  Header header;
  header.kind = static_cast<MessageKind>(kind);
  header.payload_checksum_follows = (flags & kFlagPayloadChecksum) != 0;
  header.pipeline = load<std::uint64_t>(bytes, kAtPipeline);
  header.request = load<std::uint64_t>(bytes, kAtRequest);
  header.sequence = load<std::uint32_t>(bytes, kAtSequence);
  header.time_left = std::chrono::microseconds(load<std::uint32_t>(bytes, kAtTimeLeft));
  header.priority = load<std::int8_t>(bytes, kAtPriority);
  header.metadata_bytes = load<std::uint32_t>(bytes, kAtMetadataBytes);
  header.payload_bytes = load<std::uint64_t>(bytes, kAtPayloadBytes);
  header.metadata_checksum = load<std::uint64_t>(bytes, kAtMetadataChecksum);
  if (header.payload_checksum_follows && header.payload_bytes == 0) {
    return fail(ErrorCode::kCorrupt, "the checksum of a payload that is empty");
  }
  PARETO_TRY(check_sizes(header.metadata_bytes, header.payload_bytes, limits));
  return header;
}

Expected<> check_sizes(std::uint64_t metadata_bytes, std::uint64_t payload_bytes,
                       const FrameLimits& limits) {
  // A frame's size has to fit 63 bits even where the limit is set to "none".
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  if (metadata_bytes > limits.max_metadata_bytes) {
    return fail(ErrorCode::kExhausted, "{} bytes of metadata; at most {} are allowed",
                metadata_bytes, limits.max_metadata_bytes);
  }
  if (payload_bytes > kMost ||
      kHeaderBytes + metadata_bytes + payload_bytes > limits.max_frame_bytes) {
    return fail(ErrorCode::kExhausted,
                "a frame of {} bytes, {} of them tensors; its receiver takes {} bytes at most "
                "(max_frame)",
                kHeaderBytes + metadata_bytes + std::min(payload_bytes, kMost), payload_bytes,
                limits.max_frame_bytes);
  }
  return {};
}

Expected<> check_decoded(std::uint64_t tensor_bytes, const FrameLimits& limits) {
  if (tensor_bytes > limits.max_frame_bytes) {
    return fail(ErrorCode::kExhausted,
                "tensors of {} bytes; a frame's receiver takes {} bytes at most, decoded or not "
                "(max_frame)",
                tensor_bytes, limits.max_frame_bytes);
  }
  return {};
}

}  // namespace pareto::wire
