// Frames as a hostile peer would make them: every checksum right, the content wrong.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/wire/checksum.h"
#include "core/wire/frame.h"

namespace pareto::wire {
namespace {

/// Writes bytes as a peer would, without our encoder's checks.
class Forge {
 public:
  template <typename T>
  Forge& put(T number) {
    metadata_.resize(metadata_.size() + sizeof(T));
    std::memcpy(metadata_.data() + metadata_.size() - sizeof(T), &number, sizeof(T));
    return *this;
  }
  Forge& u8(unsigned number) { return put(static_cast<std::uint8_t>(number)); }
  Forge& u16(unsigned number) { return put(static_cast<std::uint16_t>(number)); }
  Forge& u32(std::uint32_t number) { return put(number); }
  Forge& i64(std::int64_t number) { return put(number); }
  /// Writes no timeline.
  Forge& no_timeline() { return u32(0); }
  /// Writes a float32 tensor.
  Forge& descriptor(const std::vector<std::int64_t>& shape) {
    u8(6).u8(static_cast<unsigned>(shape.size())).u16(0);
    for (const std::int64_t size : shape) i64(size);
    return *this;
  }
  Forge& payload(std::uint64_t announced, std::size_t sent = 0) {
    payload_bytes_ = announced;
    sent_ = sent;
    return *this;
  }
  Forge& kind(unsigned number) {
    kind_ = number;
    return *this;
  }
  Forge& flags(unsigned number) {
    flags_ = number;
    return *this;
  }

  Forge& reserved(std::uint64_t number) {
    reserved_ = number;
    return *this;
  }

  std::vector<std::byte> frame() const {
    std::vector<std::byte> bytes(kHeaderBytes);
    const auto store = [&](std::size_t offset, auto number) {
      std::memcpy(bytes.data() + offset, &number, sizeof(number));
    };
    std::memcpy(bytes.data(), "PFRM", 4);
    store(4, kFrameVersion);
    store(5, static_cast<std::uint8_t>(kind_));
    store(6, static_cast<std::uint16_t>(flags_));
    store(28, static_cast<std::uint32_t>(metadata_.size()));
    store(32, payload_bytes_);
    store(40, reserved_);
    store(48, checksum(metadata_));
    store(56, checksum(std::span(bytes).first(56)));
    bytes.resize(kHeaderBytes + metadata_.size() + sent_);
    if (!metadata_.empty()) {
      std::memcpy(bytes.data() + kHeaderBytes, metadata_.data(), metadata_.size());
    }
    return bytes;
  }

 private:
  std::vector<std::byte> metadata_;
  std::uint64_t payload_bytes_ = 0;
  std::size_t sent_ = 0;
  unsigned kind_ = 3;
  unsigned flags_ = 0;
  std::uint64_t reserved_ = 0;
};

Error refusal_of(const std::vector<std::byte>& frame, const FrameLimits& limits = {}) {
  FrameDecoder decoder(limits);
  const auto fed = decoder.feed(frame);
  if (fed) {
    ADD_FAILURE() << (decoder.complete() ? "the frame was taken" : "the frame waits for more");
    return {};
  }
  EXPECT_FALSE(fed.error().message.empty());
  return fed.error();
}

void expect_corrupt(const Forge& forge, std::string_view part) {
  const Error error = refusal_of(forge.frame());
  EXPECT_EQ(error.code, ErrorCode::kCorrupt) << error.message;
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

void expect_exhausted(const Forge& forge, const FrameLimits& limits, std::string_view part) {
  const Error error = refusal_of(forge.frame(), limits);
  EXPECT_EQ(error.code, ErrorCode::kExhausted) << error.message;
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

TEST(HostileFrame, AWellMadeForgeryIsTaken) {
  // Otherwise the refusals below would prove nothing.
  FrameDecoder decoder;
  const auto frame =
      Forge().no_timeline().u32(1).descriptor({2, 2}).u8(9).u32(0).payload(16, 16).frame();
  ASSERT_TRUE(decoder.feed(frame));
  EXPECT_TRUE(decoder.complete());
}

TEST(HostileFrame, GarbageIsNoFrame) {
  std::vector<std::byte> garbage(64);
  std::mt19937 random(1);
  for (auto& byte : garbage) byte = static_cast<std::byte>(random());
  EXPECT_EQ(refusal_of(garbage).code, ErrorCode::kCorrupt);
}

TEST(HostileFrame, UnknownKindFlagsTagsAndDtypes) {
  expect_corrupt(Forge().kind(0).no_timeline().u32(0).u8(0), "kind");
  expect_corrupt(Forge().kind(12).no_timeline().u32(0).u8(0), "kind");
  expect_corrupt(Forge().flags(2).no_timeline().u32(0).u8(0), "flags");
  expect_corrupt(Forge().flags(1).no_timeline().u32(0).u8(0), "empty");
  for (const int bit : {40, 47, 63}) {
    expect_corrupt(Forge().reserved(std::uint64_t{1} << bit).no_timeline().u32(0).u8(0),
                   "reserved");
  }
  expect_corrupt(Forge().no_timeline().u32(0).u8(10), "tag");
  expect_corrupt(Forge().no_timeline().u32(0).u8(2).u8(2), "bool");
  expect_corrupt(Forge().no_timeline().u32(1).u8(12).u8(0).u16(0).u8(9).u32(0), "dtype");
  expect_corrupt(Forge().no_timeline().u32(1).u8(6).u8(0).u8(0).u8(2).u8(9).u32(0), "layout 2");
  expect_corrupt(Forge().no_timeline().u32(1).u8(6).u8(0).u8(0).u8(1).u8(9).u32(0), "layout 1");
}

TEST(HostileFrame, AnotherVersionIsNamed) {
  auto frame = Forge().no_timeline().u32(0).u8(0).frame();
  frame[4] = std::byte{9};
  const Error error = refusal_of(frame);
  EXPECT_NE(error.message.find("version 9"), std::string::npos) << error.message;
}

TEST(HostileFrame, MetadataThatEndsTooEarlyOrTooLate) {
  expect_corrupt(Forge(), "without metadata");
  expect_corrupt(Forge().no_timeline(), "ends inside");
  expect_corrupt(Forge().u32(1).u32(0), "timeline");
  expect_corrupt(Forge().no_timeline().u32(1), "descriptors");
  expect_corrupt(Forge().no_timeline().u32(0).u8(5).u32(100), "string");
  expect_corrupt(Forge().no_timeline().u32(0).u8(3).u32(1), "value tree");
  expect_corrupt(Forge().no_timeline().u32(0).u8(0).u8(0), "after the value tree");
}

TEST(HostileFrame, CountsBeyondWhatIsThere) {
  expect_corrupt(Forge().no_timeline().u32(0).u8(6).u32(1000), "1000 items");
  expect_corrupt(Forge().no_timeline().u32(0).u8(8).u32(1).u8(0), "1 items");
  expect_corrupt(Forge().no_timeline().u32(60000), "descriptors");
  expect_exhausted(Forge().no_timeline().u32(0xFFFFFFFF), {}, "tensors");
  expect_exhausted(Forge().u32(0xFFFFFFFF), {}, "timeline");
}

TEST(HostileFrame, ShapesThatDoNotFillThePayload) {
  const auto tensor = [](const std::vector<std::int64_t>& shape, std::uint64_t payload) {
    return Forge().no_timeline().u32(1).descriptor(shape).u8(9).u32(0).payload(payload);
  };
  expect_corrupt(tensor({5}, 16), "tensor 0");
  expect_corrupt(tensor({3}, 16), "12 bytes");
  expect_corrupt(tensor({-1}, 16), "tensor 0");
  expect_corrupt(tensor({0, -1}, 0), "tensor 0");
  expect_corrupt(tensor({1LL << 62, 1LL << 62}, 16), "tensor 0");
  expect_corrupt(tensor({1LL << 62}, 16), "tensor 0");
  expect_corrupt(Forge().no_timeline().u32(0).u8(0).payload(1), "0 bytes of a payload of 1");
}

TEST(HostileFrame, TensorsOutOfOrderOrUnused) {
  expect_corrupt(Forge().no_timeline().u32(0).u8(9).u32(0), "tensor 0 of 0");
  expect_corrupt(Forge().no_timeline().u32(1).descriptor({0}).u8(0), "names 0");
  expect_corrupt(Forge().no_timeline().u32(2).descriptor({0}).descriptor({0}).u8(9).u32(1),
                 "out of order");
}

TEST(HostileFrame, PaddingMustBeZero) {
  auto frame = Forge()
                   .no_timeline()
                   .u32(2)
                   .descriptor({1})
                   .descriptor({1})
                   .u8(7)
                   .u32(2)
                   .u8(9)
                   .u32(0)
                   .u8(9)
                   .u32(1)
                   .payload(68, 68)
                   .frame();
  frame[frame.size() - 10] = std::byte{1};
  EXPECT_NE(refusal_of(frame).message.find("padding"), std::string::npos);
}

TEST(HostileFrame, LimitsAreCheckedBeforeTheBytesCome) {
  FrameLimits limits;
  limits.max_frame_bytes = 1000;
  // Only the header is there: neither metadata nor payload were waited or made room for.
  auto header = Forge().no_timeline().u32(0).u8(0).payload(5000).frame();
  header.resize(kHeaderBytes);
  EXPECT_EQ(refusal_of(header, limits).code, ErrorCode::kExhausted);
  header = Forge().no_timeline().u32(0).u8(0).payload(~std::uint64_t{0}).frame();
  header.resize(kHeaderBytes);
  EXPECT_EQ(refusal_of(header).code, ErrorCode::kExhausted);

  limits = {};
  limits.max_metadata_bytes = 8;
  expect_exhausted(Forge().no_timeline().u32(0).u8(0), limits, "metadata");
  limits = {};
  limits.max_timeline = 0;
  expect_exhausted(Forge().u32(1), limits, "timeline");
  limits = {};
  limits.max_tensors = 0;
  expect_exhausted(Forge().no_timeline().u32(1), limits, "tensors");
  limits = {};
  limits.max_rank = 2;
  expect_exhausted(Forge().no_timeline().u32(1).descriptor({1, 1, 1}), limits, "dimensions");
  limits = {};
  limits.max_values = 2;
  expect_exhausted(Forge().no_timeline().u32(0).u8(6).u32(2).u8(0).u8(0), limits, "2 values");
}

TEST(HostileFrame, DepthIsBounded) {
  const auto nested = [](int depth) {
    Forge forge;
    forge.no_timeline().u32(0);
    for (int i = 1; i < depth; ++i) forge.u8(6).u32(1);
    return forge.u8(0);
  };
  FrameDecoder decoder;
  ASSERT_TRUE(decoder.feed(nested(64).frame()));
  EXPECT_TRUE(decoder.complete());
  expect_exhausted(nested(65), {}, "deeper");
  expect_exhausted(nested(1'000'000), {}, "deeper");
}

TEST(HostileFrame, RandomMetadataNeverDoesHarm) {
  std::mt19937 random(7);
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    Forge forge;
    forge.no_timeline().u32(0);
    const unsigned size = 1 + random() % 40;
    for (unsigned i = 0; i < size; ++i) {
      // Small numbers: valid tags and short counts are what leads deep.
      forge.u8(random() % 4 == 0 ? random() % 11 : random() % 3);
    }
    FrameDecoder decoder;
    const auto fed = decoder.feed(forge.frame());
    if (fed) {
      EXPECT_TRUE(decoder.complete());
      ++taken;
    } else {
      EXPECT_NE(fed.error().code, ErrorCode::kInternal);
    }
  }
  EXPECT_GT(taken, 0);
}

TEST(EncodeLimits, RefusesWhatAPeerWithTheSameLimitsWould) {
  const auto refuse = [](const Message& message, const FrameLimits& limits) {
    const auto frame = encode_frame(message, {}, limits);
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code, ErrorCode::kExhausted) << frame.error().message;
  };
  Message message;
  message.body = *Tensor::allocate(DType::kUInt8, {10, 10, 10});
  FrameLimits limits;
  limits.max_frame_bytes = 1000;
  refuse(message, limits);
  limits = {};
  limits.max_rank = 2;
  refuse(message, limits);
  limits = {};
  limits.max_tensors = 0;
  refuse(message, limits);
  limits = {};
  limits.max_values = 2;
  message.body = List{{None{}, None{}}};
  refuse(message, limits);
  limits = {};
  limits.max_metadata_bytes = 100;
  message.body = std::string(200, 'x');
  refuse(message, limits);
  message.body = List{{std::string(60, 'x'), std::string(60, 'x')}};
  refuse(message, limits);
  limits = {};
  message.timeline.resize(2000);
  refuse(message, limits);
  message.timeline.clear();
  for (int i = 0; i < 70; ++i) message.body = List{{std::move(message.body)}};
  refuse(message, limits);
  message.kind = static_cast<MessageKind>(0);
  EXPECT_EQ(encode_frame(message).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pareto::wire
