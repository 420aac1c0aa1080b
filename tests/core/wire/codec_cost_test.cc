#include "core/wire/codec_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/wire/frame.h"
#include "tests/core/wire/codec_tensors.h"

namespace pareto::wire {
namespace {

TEST(CodecCosts, AreThoseOfTheFramesThatWouldBeSent) {
  std::mt19937 random(7);
  const Value body{Tuple{{activations(random, {1, 16, 30, 30}), std::int64_t{3}}}};
  const auto costs = codec_costs(body).value();
  ASSERT_EQ(costs.size(), builtin_codecs().size() + 1);
  EXPECT_EQ(costs[0].codec, "none");
  EXPECT_EQ(costs[0].encode.count(), 0);
  EXPECT_EQ(costs[0].decode.count(), 0);
  Message message;
  message.body = body;
  for (std::size_t i = 1; i < costs.size(); ++i) {
    const Codec& codec = *builtin_codecs()[i - 1];
    const CodecCost& cost = costs[i];
    EXPECT_EQ(cost.codec, codec.name());
    EXPECT_LE(cost.bytes, costs[0].bytes) << cost.codec;
    EXPECT_GT(cost.encode.count(), 0) << cost.codec;
    EXPECT_EQ(cost.decode.count() > 0, cost.bytes < costs[0].bytes) << cost.codec;
    EXPECT_EQ(cost.error == 0, codec.lossless()) << cost.codec;
    EXPECT_LT(cost.error, 0.01) << cost.codec;
    const FrameOptions options{.payload_checksum = false, .codec = &codec};
    EXPECT_EQ(cost.bytes, encode_frame(message, options).value().size_bytes()) << cost.codec;
  }
}

TEST(CodecCosts, WhatACodecDoesNotTakeTravelsAsItIs) {
  const auto text = codec_costs(Value("no tensor")).value();
  for (const CodecCost& cost : text) EXPECT_EQ(cost.bytes, text[0].bytes) << cost.codec;
}

TEST(StandardActivations, AreTheSameEverywhereAndHalfZeros) {
  const Value one = standard_activations().value();
  const Tensor& tensor = *one.get_if<Tensor>();
  EXPECT_TRUE(bit_equal(tensor, *standard_activations().value().get_if<Tensor>()));
  std::size_t zeros = 0;
  const std::size_t numbers = tensor.size_bytes() / sizeof(float);
  for (std::size_t at = 0; at < tensor.size_bytes(); at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, tensor.bytes().data() + at, sizeof(number));
    EXPECT_GE(number, 0);
    zeros += number == 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(zeros) / static_cast<double>(numbers), 0.5, 0.01);
}

}  // namespace
}  // namespace pareto::wire
