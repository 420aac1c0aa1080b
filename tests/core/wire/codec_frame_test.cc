// Frames whose tensors travel by codecs.
#include <gtest/gtest.h>

#include <cstring>

#include "core/wire/checksum.h"
#include "core/wire/codec_error.h"
#include "core/wire/frame.h"
#include "tests/core/wire/codec_tensors.h"
#include "tests/core/wire/frame_bytes.h"

namespace pareto::wire {
namespace {

const Codec* codec_named(std::string_view name) { return *find_codec(name); }

Message mixed() {
  std::mt19937 random(41);
  const Tensor shared = activations(random, {1, 8, 20, 20});
  Message message;
  Tuple body;
  body.items = {shared, "text", List{{shared, std::int64_t{3}, activations(random, {33, 7})}}};
  for (const DType dtype : every_dtype()) {
    body.items.emplace_back(random_bytes(random, dtype, {3, 70}));
    body.items.emplace_back(tensor_from({}, {0, 4}));
    auto zeros = *Tensor::allocate(dtype, {500});
    std::memset(zeros.mutable_bytes().data(), 0, zeros.size_bytes());
    body.items.emplace_back(std::move(zeros));
  }
  for (const auto& [name, tensor] : broken_tensors()) body.items.emplace_back(tensor);
  for (const auto& [name, tensor] : finite_tensors()) body.items.emplace_back(tensor);
  message.body = std::move(body);
  return message;
}

TEST(CodecFrame, RoundTripsTreesOfAllTensorsByEveryCodec) {
  const Message message = mixed();
  const std::size_t plain_bytes = encode(message).size();
  for (const Codec* const codec : builtin_codecs()) {
    const Bytes bytes = encode(message, {.codec = codec});
    EXPECT_LT(bytes.size(), plain_bytes) << codec->name();
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded) << codec->name() << ": " << decoded.error().message;
    const auto sent = tensors_of(message.body);
    const auto received = tensors_of(decoded->body);
    ASSERT_EQ(sent.size(), received.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(sent[i]->dtype(), received[i]->dtype());
      EXPECT_EQ(sent[i]->shape(), received[i]->shape());
      if (codec->lossless() || !codec->takes(sent[i]->dtype())) {
        EXPECT_TRUE(bit_equal(*sent[i], *received[i])) << codec->name() << " tensor " << i;
      }
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(received[i]->bytes().data()) % Tensor::kAlignment,
                0U);
    }
    EXPECT_LE(codec_error(*sent[0], *received[0]).max, 0.004) << codec->name();
    EXPECT_EQ(received[0]->owner(), received[1]->owner()) << "what was shared is shared still";
  }
}

TEST(CodecFrame, SendsWhatDoesNotShrinkAsItIs) {
  std::mt19937 random(43);
  Message message;
  message.body = Tuple{{random_bytes(random, DType::kUInt8, {1000}), tensor_from({1}, {}),
                        activations(random, {5}, 9, false), tensor_from({NAN, 1, 2, 3, 4, 5, 6})}};
  const std::vector<std::string_view> names{"int8",        "int8-channel", "int8+zstd",
                                            "zero-bitmap", "lz4",          "zstd"};
  for (const std::string_view name : names) {
    EXPECT_EQ(encode(message, {.codec = codec_named(name)}), encode(message)) << name;
  }
}

TEST(CodecFrame, KeepsTheMemoryOfWhatTravelsAsItIs) {
  std::mt19937 random(47);
  const Tensor indices = random_bytes(random, DType::kInt64, {100});
  Message message;
  message.body = List{{indices, activations(random, {1000})}};
  const auto frame = encode_frame(message, {.codec = codec_named("fp16")});
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->pieces()[1].bytes.data(), indices.bytes().data());
  EXPECT_EQ(frame->pieces().back().bytes.size(), 2000U);
}

TEST(CodecFrame, OnlyValuesAreEncoded) {
  Message message;
  message.kind = MessageKind::kPing;
  message.body = tensor_from(std::vector<float>(1000));
  EXPECT_EQ(encode(message, {.codec = codec_named("zstd")}), encode(message));
}

TEST(CodecFrame, TellsHowLongCodecsTook) {
  std::mt19937 random(53);
  Message message;
  message.body = activations(random, {100'000});
  auto plain = encode_frame(message);
  auto encoded = encode_frame(message, {.codec = codec_named("zstd")});
  ASSERT_TRUE(plain && encoded);
  EXPECT_EQ(plain->encoding(), Nanoseconds(0));
  EXPECT_GT(encoded->encoding(), Nanoseconds(0));
  const auto encoded_bytes = bytes_of(*std::move(encoded));
  const auto plain_bytes = bytes_of(*std::move(plain));
  FrameDecoder decoder;
  ASSERT_TRUE(decoder.feed(encoded_bytes));
  EXPECT_GT(decoder.decoding(), Nanoseconds(0));
  decoder.take();
  ASSERT_TRUE(decoder.feed(plain_bytes));
  EXPECT_EQ(decoder.decoding(), Nanoseconds(0));
  Nanoseconds decoding{};
  ASSERT_TRUE(decode_frame(encoded_bytes, {}, &decoding));
  EXPECT_GT(decoding, Nanoseconds(0));
  ASSERT_TRUE(decode_frame(plain_bytes, {}, &decoding));
  EXPECT_EQ(decoding, Nanoseconds(0));
}

TEST(CodecFrame, DecodesByteByByteAndEveryCorruptedBitIsFound) {
  std::mt19937 random(59);
  Message message;
  message.body = activations(random, {4, 20});
  for (const Codec* const codec : builtin_codecs()) {
    const Bytes good = encode(message, {.codec = codec});
    FrameDecoder decoder;
    for (const std::byte& byte : good) {
      ASSERT_FALSE(decoder.complete());
      ASSERT_TRUE(decoder.feed(std::span(&byte, 1)));
    }
    EXPECT_TRUE(decoder.complete());
    for (std::size_t at = 0; at < good.size(); ++at) {
      Bytes bad = good;
      bad[at] ^= static_cast<std::byte>(1 << random() % 8);
      const auto decoded = decode(bad);
      ASSERT_FALSE(decoded) << codec->name() << " byte " << at;
      EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt) << decoded.error().message;
    }
  }
}

/// Returns one float32 tensor of shape {elements} by a codec, every checksum right and `sent` bytes
/// of it there.
Bytes forge(unsigned codec, unsigned dtype, const std::vector<std::int64_t>& sizes,
            std::uint64_t encoded_bytes, const Bytes& payload, std::uint64_t payload_bytes) {
  Bytes metadata;
  const auto put = [&](auto number) {
    metadata.resize(metadata.size() + sizeof(number));
    std::memcpy(metadata.data() + metadata.size() - sizeof(number), &number, sizeof(number));
  };
  put(std::uint32_t{0});
  put(static_cast<std::uint32_t>(sizes.size()));
  for (const std::int64_t size : sizes) {
    for (const unsigned number : {dtype, 1U, codec, 0U}) put(static_cast<std::uint8_t>(number));
    put(size);
    put(encoded_bytes);
  }
  put(std::uint8_t{7});
  put(static_cast<std::uint32_t>(sizes.size()));
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    put(std::uint8_t{9});
    put(i);
  }
  Bytes frame(kHeaderBytes);
  const auto store = [&](std::size_t offset, auto number) {
    std::memcpy(frame.data() + offset, &number, sizeof(number));
  };
  std::memcpy(frame.data(), "PFRM", 4);
  store(4, kFrameVersion);
  store(5, std::uint8_t{3});
  store(28, static_cast<std::uint32_t>(metadata.size()));
  store(32, payload_bytes);
  store(48, checksum(metadata));
  store(56, checksum(std::span(frame).first(56)));
  frame.insert(frame.end(), metadata.begin(), metadata.end());
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

Bytes forge(unsigned codec, unsigned dtype, std::int64_t size, std::uint64_t encoded_bytes) {
  return forge(codec, dtype, std::vector{size}, encoded_bytes, {}, encoded_bytes);
}

void expect_refused(const Bytes& frame, ErrorCode code, std::string_view part,
                    const FrameLimits& limits = {}) {
  const auto decoded = decode(frame, limits);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, code) << decoded.error().message;
  EXPECT_NE(decoded.error().message.find(part), std::string::npos) << decoded.error().message;
}

// In these the payload never comes: what is refused was refused by its descriptor.
TEST(HostileCodecFrame, ImpossibleDescriptorsAreRefusedBeforeTheirBytesCome) {
  expect_refused(forge(200, 6, 100, 10), ErrorCode::kCorrupt, "unknown codec 200");
  expect_refused(forge(9, 6, 100, 10), ErrorCode::kCorrupt, "unknown codec 9");
  expect_refused(forge(3, 7, 100, 10), ErrorCode::kCorrupt, "int8 does not make");
  expect_refused(forge(5, 4, 100, 10), ErrorCode::kCorrupt, "zero-bitmap does not make");
  expect_refused(forge(7, 6, 100, 0), ErrorCode::kCorrupt, "0 bytes that zstd made");
  expect_refused(forge(7, 6, 100, 400), ErrorCode::kCorrupt, "400 bytes that zstd made of 400");
  expect_refused(forge(7, 6, 0, 1), ErrorCode::kCorrupt, "1 bytes that zstd made of 0");
  expect_refused(forge(7, 6, -1, 1), ErrorCode::kCorrupt, "tensor 0");
  expect_refused(forge(7, 6, {100}, 50, {}, 40), ErrorCode::kCorrupt, "tensor 0");
  expect_refused(forge(7, 6, {100}, 30, {}, 40), ErrorCode::kCorrupt, "30 bytes of a payload");
  expect_refused(forge(7, 6, {100}, ~std::uint64_t{0}, {}, 40), ErrorCode::kCorrupt, "tensor 0");
}

TEST(HostileCodecFrame, BombsAreRefusedBeforeMemoryIsAllocated) {
  expect_refused(forge(7, 6, std::int64_t{1} << 40, 10), ErrorCode::kExhausted, "max_frame");
  expect_refused(forge(7, 6, std::int64_t{1} << 62, 10), ErrorCode::kExhausted, "max_frame");
  // Each is within the limit, all together are not.
  const std::vector<std::int64_t> sizes(5, 60'000'000);
  expect_refused(forge(6, 6, sizes, 64, {}, 320), ErrorCode::kExhausted, "max_frame");
  FrameLimits limits;
  limits.max_frame_bytes = 1000;
  expect_refused(forge(7, 6, 251, 10), ErrorCode::kExhausted, "max_frame",
                 {.max_frame_bytes = 1000});
  EXPECT_EQ(decode(forge(7, 6, 250, 10), limits).error().code, ErrorCode::kUnavailable);
  // "No limit" is none that can be added up to and beyond.
  limits.max_frame_bytes = ~std::uint64_t{0};
  const std::vector<std::int64_t> halves(3, std::int64_t{1} << 61);
  const auto refused = decode(forge(6, 6, halves, 64, {}, 192), limits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted) << refused.error().message;
}

TEST(HostileCodecFrame, AnEncodingThatIsNoneIsCorrupt) {
  for (const Codec* const codec : builtin_codecs()) {
    const Bytes payload(50, std::byte{0xFF});
    expect_refused(forge(codec->number(), 6, {100}, 50, payload, 50), ErrorCode::kCorrupt,
                   "a tensor of shape 100");
  }
}

TEST(HostileCodecFrame, RefusesToSendWhatAPeerWithTheSameLimitsWould) {
  Message message;
  message.body = tensor_from(std::vector<float>(1000));
  FrameLimits limits;
  limits.max_frame_bytes = 3000;
  const auto frame = encode_frame(message, {.codec = codec_named("zstd")}, limits);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, ErrorCode::kExhausted) << frame.error().message;
}

}  // namespace
}  // namespace pareto::wire
