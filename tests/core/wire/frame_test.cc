#include "core/wire/frame.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "tests/core/wire/frame_bytes.h"

namespace pareto::wire {
namespace {

Tensor tensor_of(DType dtype, Shape shape, unsigned seed = 1) {
  auto tensor = Tensor::allocate(dtype, std::move(shape));
  unsigned state = seed;
  for (std::byte& byte : tensor->mutable_bytes()) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::byte>(state >> 24);
  }
  return *std::move(tensor);
}

/// Returns the message of FORMAT.md's worked example.
Message example() {
  auto bytes = Tensor::allocate(DType::kUInt8, {3});
  for (int i = 0; i < 3; ++i) bytes->mutable_bytes()[i] = static_cast<std::byte>(i + 1);
  auto one = Tensor::allocate(DType::kFloat32, {1});
  const float value = 1.0F;
  std::memcpy(one->mutable_bytes().data(), &value, sizeof(value));
  Message message;
  message.kind = MessageKind::kValues;
  message.pipeline = 0x1122334455667788;
  message.request = 5;
  message.sequence = 2;
  using std::chrono::nanoseconds;
  message.timeline = {{1, nanoseconds(10), nanoseconds(20), nanoseconds(30), nanoseconds(40),
                       nanoseconds(50), nanoseconds(60), nanoseconds(70), nanoseconds(80),
                       nanoseconds(90), nanoseconds(100)}};
  message.body =
      Tuple{{*std::move(bytes), std::int64_t{-2}, List{{*std::move(one), None{}}}, "hi"}};
  return message;
}

void expect_same(const Message& a, const Message& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.pipeline, b.pipeline);
  EXPECT_EQ(a.request, b.request);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.time_left, b.time_left);
  EXPECT_EQ(a.priority, b.priority);
  EXPECT_EQ(a.timeline, b.timeline);
  EXPECT_TRUE(bit_equal(a.body, b.body)) << describe(a.body) << " and " << describe(b.body);
}

std::string hex_of(const Bytes& bytes) {
  std::string hex;
  for (const std::byte byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return hex;
}

/// Returns the message of FORMAT.md's second example.
Message sparse_example() {
  auto tensor = Tensor::allocate(DType::kFloat32, {2, 8});
  std::array<float, 16> values{};
  values[3] = 1;
  values[10] = -2;
  std::memcpy(tensor->mutable_bytes().data(), values.data(), sizeof(values));
  Message message;
  message.body = *std::move(tensor);
  return message;
}

/// Returns the hexadecimal digits of an example in FORMAT.md, without offsets (before a colon) and
/// remarks (after "  ").
std::string documented_example(int number) {
  std::ifstream file(PARETO_SOURCE_DIR "/core/wire/FORMAT.md");
  std::string hex;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```hex") {
      inside = --number == 0;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      const std::size_t start = line.find(": ") + 2;
      const std::size_t end = line.find("   ", start);
      for (const char c : line.substr(start, end - start)) {
        if (c != ' ') hex += c;
      }
    }
  }
  return hex;
}

TEST(Frame, IsWhatTheSpecificationSaysByteForByte) {
  ASSERT_FALSE(documented_example(1).empty());
  EXPECT_EQ(hex_of(encode(example())), documented_example(1));
  ASSERT_FALSE(documented_example(2).empty());
  EXPECT_EQ(hex_of(encode(sparse_example(), {.codec = *find_codec("zero-bitmap")})),
            documented_example(2));
}

TEST(Frame, RoundTripsTheExample) {
  const auto decoded = decode(encode(example()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  expect_same(*decoded, example());
}

TEST(Frame, CarriesWhatTimeIsLeftAndThePriority) {
  using std::chrono::microseconds;
  using std::chrono::nanoseconds;
  struct Case {
    Nanoseconds left;
    Nanoseconds read;
  };
  const std::vector<Case> cases{{nanoseconds(0), nanoseconds(0)},
                                {nanoseconds(1), microseconds(1)},
                                {nanoseconds(1999), microseconds(1)},
                                {-nanoseconds(5), microseconds(1)},
                                {std::chrono::hours(1), std::chrono::hours(1)},
                                {std::chrono::hours(9), microseconds(UINT32_MAX)}};
  for (const auto& [left, read] : cases) {
    for (const int priority : {-128, -1, 0, 127}) {
      Message message = example();
      message.time_left = left;
      message.priority = static_cast<std::int8_t>(priority);
      const Message back = decode(encode(message)).value();
      message.time_left = read;
      expect_same(back, message);
    }
  }
}

TEST(Frame, RoundTripsEveryKindOfValue) {
  Message message;
  message.body = Tuple{{
      None{},
      Uninitialized{},
      true,
      false,
      std::numeric_limits<std::int64_t>::min(),
      -0.0,
      std::numeric_limits<double>::quiet_NaN(),
      std::numeric_limits<double>::infinity(),
      "",
      std::string("zero\0inside", 11),
      List{},
      Tuple{},
      Dict{},
      List{{List{{std::int64_t{1}}}, List{}}},
      Dict{{{"key", tensor_of(DType::kFloat32, {2, 3})}, {std::int64_t{7}, Tuple{{None{}}}}}},
  }};
  const auto decoded = decode(encode(message));
  ASSERT_TRUE(decoded) << decoded.error().message;
  expect_same(*decoded, message);
}

TEST(Frame, RoundTripsEveryKindOfMessage) {
  for (const auto kind :
       {MessageKind::kHello, MessageKind::kReady, MessageKind::kValues, MessageKind::kError,
        MessageKind::kPing, MessageKind::kPong, MessageKind::kEnd}) {
    Message message;
    message.kind = kind;
    const auto decoded = decode(encode(message));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->kind, kind);
  }
}

TEST(Frame, RoundTripsEveryDtypeAlignedAndPaddedInAnyOrder) {
  Message message;
  Tuple body;
  for (int number = 0; number < 256; ++number) {
    const auto dtype = dtype_from_number(static_cast<std::uint8_t>(number));
    if (!dtype) continue;
    body.items.emplace_back(tensor_of(*dtype, {3, 5}, static_cast<unsigned>(number)));
    body.items.emplace_back(tensor_of(*dtype, {}, static_cast<unsigned>(number)));
    body.items.emplace_back(tensor_of(*dtype, {0, 4}));
  }
  ASSERT_EQ(body.items.size(), 39U);
  message.body = std::move(body);
  for (const bool checksum : {true, false}) {
    const auto decoded = decode(encode(message, {.payload_checksum = checksum}));
    ASSERT_TRUE(decoded) << decoded.error().message;
    expect_same(*decoded, message);
    for (const Tensor* tensor : tensors_of(decoded->body)) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->bytes().data()) % Tensor::kAlignment, 0U);
    }
  }
}

TEST(Frame, KeepsTheLayoutOfATensor) {
  const Tensor rows = tensor_of(DType::kFloat32, {2, 3, 4, 5}, 1);
  const Tensor channels_last = Tensor::borrow(rows.dtype(), rows.shape(), rows.bytes().data(),
                                              rows.owner(), MemoryLayout::kChannelsLast)
                                   .value();
  Message message;
  message.body = Tuple{{rows, channels_last, channels_last}};
  const auto decoded = decode(encode(message));
  ASSERT_TRUE(decoded) << decoded.error().message;
  expect_same(*decoded, message);
  const auto received = tensors_of(decoded->body);
  EXPECT_EQ(received[0]->layout(), MemoryLayout::kRowMajor);
  EXPECT_EQ(received[1]->layout(), MemoryLayout::kChannelsLast);
  EXPECT_NE(received[0]->owner(), received[1]->owner()) << "the same bytes are other tensors";
  EXPECT_EQ(received[1]->owner(), received[2]->owner());
}

TEST(Frame, SendsSharedTensorsOnce) {
  const Tensor shared = tensor_of(DType::kFloat32, {1000});
  Message message;
  message.body = Tuple{{shared, List{{shared, tensor_of(DType::kFloat32, {10}), shared}}}};
  const Bytes bytes = encode(message);
  EXPECT_LT(bytes.size(), 2 * shared.size_bytes());
  const auto decoded = decode(bytes);
  ASSERT_TRUE(decoded) << decoded.error().message;
  expect_same(*decoded, message);
}

TEST(Frame, PointsIntoTheTensorsAndKeepsThemAlive) {
  Message message;
  auto tensor = Tensor::allocate(DType::kUInt8, {100'000});
  std::memset(tensor->mutable_bytes().data(), 7, 100'000);
  const std::byte* const address = tensor->bytes().data();
  std::weak_ptr<const void> memory = tensor->owner();
  message.body = *std::move(tensor);
  {
    const auto frame = encode_frame(message);
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->pieces().size(), 2U);
    EXPECT_EQ(frame->pieces()[1].bytes.data(), address);
    message = Message{};
    tensor = Tensor();
    EXPECT_FALSE(memory.expired());
    EXPECT_EQ(frame->pieces()[1].bytes[99'999], std::byte{7});
  }
  EXPECT_TRUE(memory.expired());
}

TEST(Frame, DecodesBytesAsTheyComeAndStopsAtTheEndOfEachFrame) {
  Message second = example();
  second.request = 6;
  Bytes stream = encode(example());
  const std::size_t first_bytes = stream.size();
  const Bytes more = encode(second);
  stream.insert(stream.end(), more.begin(), more.end());
  for (const std::size_t step : {1UL, 3UL, 64UL, 1000UL}) {
    FrameDecoder decoder;
    std::vector<Message> messages;
    std::size_t at = 0;
    while (at < stream.size()) {
      const auto part = std::span(stream).subspan(at, std::min(step, stream.size() - at));
      const auto used = decoder.feed(part);
      ASSERT_TRUE(used) << used.error().message;
      ASSERT_GT(*used, 0U);
      at += *used;
      if (decoder.complete()) {
        EXPECT_EQ(decoder.received_bytes(), messages.empty() ? first_bytes : more.size());
        messages.push_back(decoder.take());
        EXPECT_TRUE(decoder.untouched());
      }
    }
    ASSERT_EQ(messages.size(), 2U) << "in steps of " << step;
    expect_same(messages[0], example());
    expect_same(messages[1], second);
  }
}

TEST(Frame, ReadsScatteredIntoTheTensorsThemselves) {
  Message message;
  message.body = List{{tensor_of(DType::kUInt8, {100}), tensor_of(DType::kInt64, {9}),
                       tensor_of(DType::kBool, {1})}};
  const Bytes bytes = encode(message);
  FrameDecoder decoder;
  std::size_t at = 0;
  std::array<std::span<std::byte>, 8> pieces;
  std::size_t most_pieces = 0;
  while (!decoder.complete()) {
    const std::size_t count = decoder.next(pieces);
    most_pieces = std::max(most_pieces, count);
    std::size_t filled = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_LE(at + pieces[i].size(), bytes.size());
      std::memcpy(pieces[i].data(), bytes.data() + at, pieces[i].size());
      at += pieces[i].size();
      filled += pieces[i].size();
    }
    const auto advanced = decoder.advance(filled);
    ASSERT_TRUE(advanced) << advanced.error().message;
  }
  EXPECT_EQ(most_pieces, 6U);  // three tensors, two paddings, the trailer
  expect_same(decoder.take(), message);
}

TEST(Frame, TruncatedAnywhereIsIncompleteAndNothingElse) {
  const Bytes bytes = encode(example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode(std::span(bytes).first(size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().code, ErrorCode::kUnavailable) << size;
  }
}

TEST(Frame, EveryCorruptedBitIsFound) {
  const Bytes good = encode(example());
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[at] ^= static_cast<std::byte>(1 << bit);
      const auto decoded = decode(bad);
      ASSERT_FALSE(decoded) << "byte " << at << " bit " << bit;
      EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt) << decoded.error().message;
    }
  }
}

TEST(Frame, WithoutPayloadChecksumOnlyTensorsMayDiffer) {
  const Bytes good = encode(example(), {.payload_checksum = false});
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= std::byte{0x5A};
    const auto decoded = decode(bad);
    if (decoded) {
      ++accepted;
      EXPECT_EQ(decoded->timeline, example().timeline);
      EXPECT_FALSE(bit_equal(decoded->body, example().body));
    } else {
      EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt) << decoded.error().message;
    }
  }
  EXPECT_EQ(accepted, 7U);  // the 3 + 4 bytes of the two tensors
}

}  // namespace
}  // namespace pareto::wire
