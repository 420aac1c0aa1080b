// Any bytes as a frame: the decoder may refuse them, and no more. A message that it takes comes
// again in memory used before, comes from a frame that lies in memory as a whole, and is encoded
// and decoded again by every codec.
//
//   input = a frame as it travels, or: 2 bytes how long the metadata is, the metadata, the payload;
//           then the header is made here, with all checksums right, which no fuzzer would guess
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "core/wire/checksum.h"
#include "core/wire/frame.h"

namespace pareto::wire {
namespace {

using Bytes = std::vector<std::byte>;

// Small, so that the time goes into bytes and not into memory.
constexpr FrameLimits kLimits{.max_frame_bytes = 1 << 20, .max_metadata_bytes = 1 << 16};

Bytes with_header(std::span<const std::byte> input) {
  std::uint16_t metadata_bytes = 0;
  std::memcpy(&metadata_bytes, input.data(), sizeof(metadata_bytes));
  input = input.subspan(sizeof(metadata_bytes));
  const auto metadata = input.first(std::min<std::size_t>(metadata_bytes, input.size()));
  Bytes frame(kHeaderBytes);
  const auto store = [&frame](std::size_t offset, auto number) {
    std::memcpy(frame.data() + offset, &number, sizeof(number));
  };
  std::memcpy(frame.data(), "PFRM", 4);
  store(4, kFrameVersion);
  store(5, std::uint8_t{3});
  store(28, static_cast<std::uint32_t>(metadata.size()));
  store(32, static_cast<std::uint64_t>(input.size() - metadata.size()));
  store(48, checksum(metadata));
  store(56, checksum(std::span(frame).first(56)));
  frame.insert(frame.end(), input.begin(), input.end());
  return frame;
}

void there_and_back(const Message& message, const Codec* codec) {
  auto frame = encode_frame(message, {.codec = codec}, kLimits);
  // A message that was read has one encoding, and that may be larger than the one it came in.
  if (!frame) return;
  FrameDecoder decoder(kLimits);
  for (const auto& piece : frame->pieces()) {
    if (!decoder.feed(piece.bytes)) std::abort();
  }
  if (!decoder.feed(frame->trailer()) || !decoder.complete()) std::abort();
  const bool exact = codec == nullptr || codec->lossless();
  if (exact && !bit_equal(decoder.take().body, message.body)) std::abort();
}

/// `bytes` hold the frame that `decoder` made `message` of.
void again(FrameDecoder& decoder, std::span<const std::byte> bytes, const Message& message) {
  for (int i = 0; i < 2; ++i) {
    if (!decoder.feed(bytes) || !decoder.complete()) std::abort();
    if (!bit_equal(decoder.take().body, message.body)) std::abort();
  }
  const auto whole = decode_frame(bytes, kLimits);
  if (!whole || !bit_equal(whole->body, message.body)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  const bool is_frame = size >= 4 && std::memcmp(data, "PFRM", 4) == 0;
  if (!is_frame && size >= 2) bytes = with_header(bytes);
  FrameDecoder decoder(kLimits);
  const auto fed = decoder.feed(bytes);
  if (!fed || !decoder.complete()) return 0;
  const Message message = decoder.take();
  again(decoder, std::span(bytes).first(*fed), message);
  there_and_back(message, nullptr);
  for (const Codec* const codec : builtin_codecs()) there_and_back(message, codec);
  return 0;
}

}  // namespace pareto::wire
