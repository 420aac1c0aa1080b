// What encoders, decoders and messages do with memory that was used before.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "core/wire/message_pool.h"
#include "tests/core/wire/frame_bytes.h"

namespace pareto::wire {
namespace {

Tensor tensor_of(Shape shape, std::uint8_t mark) {
  auto tensor = Tensor::allocate(DType::kUInt8, std::move(shape));
  std::memset(tensor->mutable_bytes().data(), mark, tensor->size_bytes());
  return *tensor;
}

/// Makes a message that differs for each size, so that what one leaves behind would show in the
/// next.
Message message_of(int size) {
  Message message;
  message.request = static_cast<std::uint64_t>(size);
  List list;
  for (int i = 0; i < size; ++i) {
    message.timeline.push_back({.stage = static_cast<std::uint32_t>(i)});
    list.items.emplace_back(tensor_of(Shape(static_cast<std::size_t>(i % 3), 5 + i), 7));
    if (i % 2 == 0) list.items.push_back(list.items.front());  // travels once
  }
  message.body =
      Tuple{{std::int64_t{size}, std::move(list), Dict{{{"size", tensor_of({size}, 9)}}}}};
  return message;
}

constexpr int kSizes[] = {3, 0, 40, 1, 40, 3};

TEST(FrameEncoder, MakesOneFrameAfterAnotherInTheSameMemory) {
  for (const bool summed : {true, false}) {
    FrameEncoder encoder({.payload_checksum = summed});
    const std::byte* memory = nullptr;
    for (const int size : kSizes) {
      const Message message = message_of(size);
      auto frame = encoder.encode(message);
      ASSERT_TRUE(frame) << frame.error().message;
      const std::byte* const head = frame->pieces()[0].bytes.data();
      // The largest before has room for all that follow.
      if (memory != nullptr) {
        EXPECT_EQ(head, memory);
      }
      if (size == 40) memory = head;
      // In the frame's own memory: bytes_of() would take it away.
      Bytes bytes;
      for (const auto& piece : frame->pieces()) {
        bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
      }
      const auto trailer = frame->trailer();
      bytes.insert(bytes.end(), trailer.begin(), trailer.end());
      EXPECT_EQ(bytes, bytes_of(*encode_frame(message, {.payload_checksum = summed})));
      EXPECT_EQ(bytes.size(), frame->size_bytes());
      encoder.reuse(*std::move(frame));
    }
  }
}

TEST(FrameEncoder, LetsGoOfTheTensorsOfAFrameThatWasSentOrRefused) {
  FrameLimits limits;
  limits.max_frame_bytes = 1000;
  FrameEncoder encoder({}, limits);
  Message message;
  message.body = Tuple{{tensor_of({100}, 1)}};
  const std::weak_ptr<const void> sent =
      message.body.get_if<Tuple>()->items[0].get_if<Tensor>()->owner();
  auto frame = encoder.encode(message);
  ASSERT_TRUE(frame);
  message.body = tensor_of({2000}, 1);
  const std::weak_ptr<const void> refused = message.body.get_if<Tensor>()->owner();
  EXPECT_EQ(encoder.encode(message).error().code, ErrorCode::kExhausted);
  message.body = None{};
  EXPECT_TRUE(refused.expired());
  EXPECT_FALSE(sent.expired());
  encoder.reuse(*std::move(frame));
  EXPECT_TRUE(sent.expired());
  EXPECT_TRUE(encoder.encode(message)) << "a refused message leaves nothing behind";
}

Message decode_with(FrameDecoder& decoder, const Message& message) {
  const auto fed = decoder.feed(bytes_of(*encode_frame(message)));
  EXPECT_TRUE(fed && decoder.complete());
  return decoder.take();
}

TEST(FrameDecoder, MakesMessagesInTheMemoryOfThoseThatEnded) {
  FrameDecoder decoder;
  for (const int size : kSizes) {
    const Message message = message_of(size);
    const Message decoded = decode_with(decoder, message);
    EXPECT_EQ(decoded.timeline, message.timeline);
    EXPECT_TRUE(bit_equal(decoded.body, message.body)) << size;
  }
  const void* timeline = nullptr;
  const void* items = nullptr;
  const void* bytes = nullptr;
  const void* shape = nullptr;
  Message simple;
  simple.timeline.resize(2);
  simple.body = Tuple{{tensor_of({2, 3}, 1)}};
  for (int i = 0; i < 4; ++i) {
    const Message decoded = decode_with(decoder, simple);
    const auto& found = decoded.body.get_if<Tuple>()->items;
    const Tensor& tensor = *found[0].get_if<Tensor>();
    if (i == 3) {
      EXPECT_EQ(decoded.timeline.data(), timeline);
      EXPECT_EQ(found.data(), items);
      EXPECT_EQ(tensor.bytes().data(), bytes);
    }
    EXPECT_GE(decoded.timeline.capacity(), 3U) << "room for the stage that receives it";
    timeline = decoded.timeline.data();
    items = found.data();
    bytes = tensor.bytes().data();
    shape = tensor.shape().data();
  }
  EXPECT_NE(shape, nullptr);
}

TEST(FrameDecoder, AMessageThatIsHeldKeepsItsMemory) {
  FrameDecoder decoder;
  const Message message = message_of(5);
  const Message held = decode_with(decoder, message);
  const Message copy = decode_with(decoder, message);
  for (int i = 0; i < 3; ++i) decode_with(decoder, message_of(5 + i));
  EXPECT_TRUE(bit_equal(held.body, message.body));
  EXPECT_TRUE(bit_equal(copy.body, message.body));
}

TEST(FrameDecoder, MessagesOutliveItAndEndOnAnyThread) {
  const Message message = message_of(4);
  auto decoder = std::make_unique<FrameDecoder>();
  std::vector<Message> held;
  for (int i = 0; i < 10; ++i) held.push_back(decode_with(*decoder, message));
  std::jthread other([ending = std::move(held)]() mutable { ending.clear(); });
  Message last = decode_with(*decoder, message);
  decoder.reset();
  other.join();
  EXPECT_TRUE(bit_equal(last.body, message.body));
}

TEST(Message, BringsBackWhateverItHoldsWhenItEnds) {
  const auto pool = std::make_shared<MessagePool>();
  {
    Message message = message_of(3);
    message.pool = pool;
    Message moved = std::move(message);
    EXPECT_EQ(pool->values.idle_bytes(), 0U);
    message = Message();
    EXPECT_EQ(pool->values.idle_bytes(), 0U) << "it was moved from";
    moved.body = Tuple{{std::int64_t{1}, List{{true}}, tensor_of({4, 4}, 1)}};
  }
  EXPECT_EQ(pool->values.idle_bytes(), 4 * sizeof(Value));
  EXPECT_EQ(pool->shapes.idle_bytes(), 2 * sizeof(std::int64_t));
  EXPECT_GE(pool->timelines.idle_bytes(), 3 * sizeof(StageTimes));
  Message replaced;
  replaced.pool = pool;
  replaced.body = Dict{{{"a", None{}}}};
  replaced = Message();
  EXPECT_EQ(pool->pairs.idle_bytes(), sizeof(std::pair<Value, Value>));
}

}  // namespace
}  // namespace pareto::wire
