#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/wire/bytes.h"
#include "core/wire/frame.h"
#include "core/wire/header.h"
#include "core/wire/metadata.h"

namespace pareto::wire {
namespace {

bool is_aligned(const std::byte* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % Tensor::kAlignment == 0;
}

Expected<> check_payload(const Header& header, std::span<const std::byte> payload,
                         std::span<const std::byte> trailer) {
  if (!header.payload_checksum_follows) return {};
  if (load<std::uint64_t>(trailer, 0) != checksum(payload)) {
    return fail(ErrorCode::kCorrupt, "the payload's checksum is wrong");
  }
  return {};
}

/// Fills a tensor that does not stay where its bytes lie.
Expected<> fill(ComingTensor& coming, std::span<const std::byte> travelled) {
  if (coming.codec == nullptr) {
    std::ranges::copy(travelled, coming.tensor.mutable_bytes().begin());
    return {};
  }
  // A codec reads numbers where they lie, and reads some of them twice: they have to be aligned,
  // and out of the peer's hands.
  PARETO_ASSIGN(Tensor own,
                Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(travelled.size())}));
  std::ranges::copy(travelled, own.mutable_bytes().begin());
  return coming.codec->decode(own.bytes(), coming.tensor);
}

}  // namespace

Expected<Message> borrow_frame(std::span<const std::byte> bytes,
                               const std::shared_ptr<const void>& owner, const FrameLimits& limits,
                               Nanoseconds* decoding) {
  if (bytes.size() < kHeaderBytes) {
    return fail(ErrorCode::kCorrupt, "{} bytes are no frame", bytes.size());
  }
  std::array<std::byte, kHeaderBytes> header_bytes;
  std::ranges::copy(bytes.first(kHeaderBytes), header_bytes.begin());
  PARETO_ASSIGN(const Header header, read_header(header_bytes, limits));
  const std::uint64_t trailer_bytes = header.payload_checksum_follows ? kTrailerBytes : 0;
  if (kHeaderBytes + header.metadata_bytes + header.payload_bytes + trailer_bytes != bytes.size()) {
    return fail(ErrorCode::kCorrupt, "a frame of {} and {} bytes, and not of {}",
                header.metadata_bytes, header.payload_bytes, bytes.size());
  }
  const auto head = bytes.subspan(kHeaderBytes, header.metadata_bytes);
  const auto payload = bytes.subspan(kHeaderBytes + header.metadata_bytes, header.payload_bytes);
  const std::vector<std::byte> metadata_bytes(head.begin(), head.end());
  if (checksum(metadata_bytes) != header.metadata_checksum) {
    return fail(ErrorCode::kCorrupt, "the metadata's checksum is wrong");
  }
  PARETO_TRY(check_payload(header, payload, bytes.last(trailer_bytes)));
  const auto make = [&](DType dtype, Shape shape, MemoryLayout layout,
                        std::optional<std::uint64_t> offset) {
    if (!offset || owner == nullptr || !is_aligned(payload.data() + *offset)) {
      return Tensor::allocate(dtype, std::move(shape), layout);
    }
    return Tensor::borrow(dtype, std::move(shape), payload.data() + *offset, owner, layout);
  };
  MetadataReader reader(limits, std::make_shared<MessagePool>());
  Message message;
  PARETO_TRY(reader.read(metadata_bytes, header.payload_bytes, make, message));
  std::uint64_t end = 0;
  Nanoseconds in_codecs{};
  for (ComingTensor& coming : reader.tensors()) {
    const auto travelled = payload.subspan(aligned(end), coming.travelling_bytes);
    end = aligned(end) + coming.travelling_bytes;
    if (coming.tensor.bytes().data() == travelled.data()) continue;
    const auto start = std::chrono::steady_clock::now();
    PARETO_TRY(fill(coming, travelled));
    if (coming.codec != nullptr) in_codecs += std::chrono::steady_clock::now() - start;
  }
  if (decoding != nullptr) *decoding = in_codecs;
  message.kind = header.kind;
  message.pipeline = header.pipeline;
  message.request = header.request;
  message.sequence = header.sequence;
  message.time_left = header.time_left;
  message.priority = header.priority;
  return message;
}

Expected<Message> decode_frame(std::span<const std::byte> bytes, const FrameLimits& limits,
                               Nanoseconds* decoding) {
  return borrow_frame(bytes, nullptr, limits, decoding);
}

}  // namespace pareto::wire
