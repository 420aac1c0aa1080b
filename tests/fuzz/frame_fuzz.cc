// Any bytes as a frame: the decoder may refuse them, and no more. A message that it takes is
// decoded again in memory used before and as a whole, and is encoded and decoded again by every
// codec.
//
//   input = a frame as it travels, or what framed.h makes a frame of
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "core/wire/frame.h"
#include "tests/fuzz/framed.h"

namespace pareto::wire {
namespace {

using fuzz::framed;
using fuzz::kSmallFrames;
using Bytes = std::vector<std::byte>;

void there_and_back(const Message& message, const Codec* codec) {
  auto frame = encode_frame(message, {.codec = codec}, kSmallFrames);
  // A message that was read has one encoding, and that may be larger than the one it came in.
  if (!frame) return;
  FrameDecoder decoder(kSmallFrames);
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
  const auto whole = decode_frame(bytes, kSmallFrames);
  if (!whole || !bit_equal(whole->body, message.body)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  const bool is_frame = size >= 4 && std::memcmp(data, "PFRM", 4) == 0;
  if (!is_frame && size >= 2) bytes = framed(MessageKind::kValues, bytes);
  FrameDecoder decoder(kSmallFrames);
  const auto fed = decoder.feed(bytes);
  if (!fed || !decoder.complete()) return 0;
  const Message message = decoder.take();
  again(decoder, std::span(bytes).first(*fed), message);
  there_and_back(message, nullptr);
  for (const Codec* const codec : builtin_codecs()) there_and_back(message, codec);
  return 0;
}

}  // namespace pareto::wire
