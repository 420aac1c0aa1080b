// One suite over every codec: round trips, bounds of error, and the tensors that codecs trip over.
#include "core/wire/codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "core/wire/codec_error.h"
#include "tests/core/wire/codec_tensors.h"

namespace pareto::wire {
namespace {

/// Returns the tensor after encoding and decoding.
Expected<Tensor> round_trip(const Codec& codec, const Tensor& tensor) {
  PARETO_ASSIGN(const Tensor encoded, codec.encode(tensor));
  EXPECT_EQ(encoded.dtype(), DType::kUInt8);
  EXPECT_EQ(encoded.shape().size(), 1U);
  if (encoded.size_bytes() > 0) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(encoded.bytes().data()) % Tensor::kAlignment, 0U);
    EXPECT_NE(encoded.owner(), tensor.owner());
  }
  PARETO_ASSIGN(Tensor decoded, Tensor::allocate(tensor.dtype(), tensor.shape(), tensor.layout()));
  if (decoded.size_bytes() > 0) {
    std::memset(decoded.mutable_bytes().data(), 0xA5, decoded.size_bytes());
  }
  PARETO_TRY(codec.decode(encoded.bytes(), decoded));
  return decoded;
}

/// Returns what a lossy codec may be off by, relative to the largest magnitude: half a unit of its
/// last place, and float32's own rounding.
double bound_of(const Codec& codec) {
  if (codec.name() == "fp16") return 1.0 / 2048;
  if (codec.name() == "bf16") return 1.0 / 256;
  return 0.501 * 2 / 255;
}

float largest_of(const Tensor& tensor) {
  float largest = 0;
  for (std::size_t at = 0; at < tensor.size_bytes(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, tensor.bytes().data() + at, sizeof(value));
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

class EveryCodec : public testing::TestWithParam<const Codec*> {
 protected:
  const Codec& codec() const { return *GetParam(); }
};

TEST_P(EveryCodec, IsFoundByNameAndNumber) {
  const auto found = find_codec(codec().name());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, &codec());
  EXPECT_EQ(codec_of_number(codec().number()), &codec());
}

TEST_P(EveryCodec, KeepsEveryBitOfEveryDtypeWhereItSaysSo) {
  std::mt19937 random(3);
  for (const DType dtype : every_dtype()) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 5}, Shape{2, 3, 61}}) {
      const Tensor tensor = random_bytes(random, dtype, shape);
      if (!codec().takes(dtype)) {
        const auto refused = codec().encode(tensor);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
      } else if (codec().lossless()) {
        const auto decoded = round_trip(codec(), tensor);
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_TRUE(bit_equal(*decoded, tensor)) << to_string(dtype) << to_string(shape);
      }
    }
  }
}

TEST_P(EveryCodec, StaysWithinItsBoundOfError) {
  for (const auto& [name, tensor] : finite_tensors()) {
    const auto decoded = round_trip(codec(), tensor);
    if (!decoded) {
      // Only where a step at the end of the range is beyond it.
      EXPECT_EQ(decoded.error().code, ErrorCode::kInvalidArgument) << decoded.error().message;
      EXPECT_TRUE(name == "the whole range" || name == "half of the range") << name;
      continue;
    }
    if (codec().lossless()) {
      EXPECT_TRUE(bit_equal(*decoded, tensor)) << name;
      continue;
    }
    const float largest = largest_of(tensor);
    if (codec().name() == "fp16" && (largest >= 65520 || largest < 6.2e-5F)) continue;
    if (codec().name() == "bf16" && largest > 3.38e38F) continue;
    if (largest == 0) continue;
    const CodecError error = codec_error(tensor, *decoded);
    // Steps of the smallest normal number and subnormal results are as fine as it gets.
    EXPECT_LE(error.max, bound_of(codec()) + 0.51 * 1.2e-38 / largest) << name;
    EXPECT_LE(error.mean, error.max) << name;
  }
}

TEST_P(EveryCodec, NumbersComeBackTheSameInAnyLayout) {
  std::mt19937 random(7);
  for (const Shape& shape : {Shape{1, 3, 5, 7}, Shape{2, 40, 3, 3}, Shape{4, 17, 1, 6}}) {
    const Tensor rows = activations(random, shape, 0.5F, false);
    const auto one = round_trip(codec(), rows);
    const auto other = round_trip(codec(), channels_last(rows));
    ASSERT_TRUE(one) << one.error().message;
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->layout(), MemoryLayout::kChannelsLast);
    EXPECT_TRUE(bit_equal(*one, *other)) << to_string(shape);
  }
}

TEST_P(EveryCodec, ZerosStayZeros) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const float mean = static_cast<float>(round % 7) - 3;
    const Tensor tensor = round < 25 ? activations(random, {4, 3, 50}, mean)
                                     : tensor_from(std::vector<float>(100, -0.0F));
    const auto decoded = round_trip(codec(), tensor);
    ASSERT_TRUE(decoded) << decoded.error().message;
    for (std::size_t at = 0; at < tensor.size_bytes(); at += sizeof(float)) {
      float before = 0;
      float after = 0;
      std::memcpy(&before, tensor.bytes().data() + at, sizeof(before));
      std::memcpy(&after, decoded->bytes().data() + at, sizeof(after));
      if (before == 0) {
        ASSERT_EQ(after, 0) << at;
      }
    }
  }
}

TEST_P(EveryCodec, NanAndInfinityArriveOrAreRefused) {
  for (const auto& [name, tensor] : broken_tensors()) {
    const auto decoded = round_trip(codec(), tensor);
    if (!decoded) {
      EXPECT_EQ(decoded.error().code, ErrorCode::kInvalidArgument) << decoded.error().message;
      EXPECT_EQ(codec().name().substr(0, 4), "int8") << name;
    } else if (codec().lossless()) {
      EXPECT_TRUE(bit_equal(*decoded, tensor)) << name;
    } else {
      EXPECT_EQ(codec_error(tensor, *decoded).max, 0) << name;
    }
  }
}

TEST_P(EveryCodec, RandomTensorsOfAllSizes) {
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    const Shape shape{static_cast<std::int64_t>(random() % 3),
                      static_cast<std::int64_t>(random() % 20),
                      static_cast<std::int64_t>(random() % 40)};
    const float mean = static_cast<float>(random() % 5) - 2;
    const Tensor tensor = activations(random, shape, mean, random() % 2 == 0);
    const auto decoded = round_trip(codec(), tensor);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_LE(codec_error(tensor, *decoded).max, codec().lossless() ? 0 : bound_of(codec()));
  }
}

TEST_P(EveryCodec, TakesBorrowedMemoryWithoutAlignment) {
  std::mt19937 random(19);
  const Tensor aligned = activations(random, {3, 333});
  std::vector<std::byte> memory(aligned.size_bytes() + 1);
  std::memcpy(memory.data() + 1, aligned.bytes().data(), aligned.size_bytes());
  const Tensor odd = *Tensor::borrow(DType::kFloat32, {3, 333}, memory.data() + 1, nullptr);
  const auto from_aligned = codec().encode(aligned);
  const auto from_odd = codec().encode(odd);
  ASSERT_TRUE(from_aligned && from_odd);
  EXPECT_TRUE(bit_equal(*from_aligned, *from_odd));
}

INSTANTIATE_TEST_SUITE_P(Codecs, EveryCodec, testing::ValuesIn(builtin_codecs()), CodecName());

TEST(Codecs, HaveNamesAndNumbersOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<std::uint8_t> numbers;
  for (const Codec* const codec : builtin_codecs()) {
    EXPECT_TRUE(names.insert(codec->name()).second) << codec->name();
    EXPECT_TRUE(numbers.insert(codec->number()).second) << codec->name();
  }
  EXPECT_FALSE(numbers.contains(0));
  EXPECT_EQ(codec_of_number(0), nullptr);
  EXPECT_EQ(codec_of_number(255), nullptr);
}

TEST(Codecs, NoneIsANameAndNoCodec) {
  const auto none = find_codec("none");
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
  const auto unknown = find_codec("zsdt");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_NE(unknown.error().message.find("zero-bitmap"), std::string::npos);
  EXPECT_NE(unknown.error().message.find("did you mean zstd"), std::string::npos)
      << unknown.error().message;
}

/// Bits of a float against the bits of it as a half, each rounding case once.
TEST(Float16, RoundsAsIeeeSays) {
  const std::vector<std::pair<std::uint32_t, std::uint16_t>> cases{
      {0x00000000, 0x0000}, {0x80000000, 0x8000}, {0x3F800000, 0x3C00}, {0xC0000000, 0xC000},
      {0x477FE000, 0x7BFF},                        // 65504, the largest
      {0x477FEFFF, 0x7BFF}, {0x477FF000, 0x7C00},  // last down, first overflow
      {0x47800000, 0x7C00}, {0x7F7FFFFF, 0x7C00}, {0xFF7FFFFF, 0xFC00}, {0x7F800000, 0x7C00},
      {0xFF800000, 0xFC00}, {0x3F801000, 0x3C00}, {0x3F803000, 0x3C02},  // ties go to even
      {0x3F801001, 0x3C01}, {0x38800000, 0x0400},                        // the smallest normal
      {0x387FFFFF, 0x0400}, {0x33800000, 0x0001},                        // the smallest of all
      {0x33000000, 0x0000}, {0x33000001, 0x0001}, {0x00000001, 0x0000},
  };
  // More than a vector of each, so that the vectors and what is left of them are both seen.
  for (const auto& [bits, half] : cases) {
    const Tensor tensor = tensor_from(std::vector<float>(37, std::bit_cast<float>(bits)));
    const auto encoded = (*find_codec("fp16"))->encode(tensor);
    ASSERT_TRUE(encoded);
    for (std::size_t at = 0; at < encoded->size_bytes(); at += 2) {
      std::uint16_t actual = 0;
      std::memcpy(&actual, encoded->bytes().data() + at, sizeof(actual));
      ASSERT_EQ(actual, half) << std::hex << bits << " at " << at;
    }
  }
}

TEST(Float16, EveryHalfSurvives) {
  for (const std::string_view name : {"fp16", "bf16"}) {
    const Codec& codec = **find_codec(name);
    for (const std::size_t count : {65536UL, 7UL}) {
      for (std::size_t first = 0; first < 65536; first += count == 7 ? 977 : count) {
        auto halves = *Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(2 * count)});
        for (std::size_t i = 0; i < count; ++i) {
          const auto half = static_cast<std::uint16_t>(first + i);
          std::memcpy(halves.mutable_bytes().data() + 2 * i, &half, sizeof(half));
        }
        auto floats = *Tensor::allocate(DType::kFloat32, {static_cast<std::int64_t>(count)});
        ASSERT_TRUE(codec.decode(halves.bytes(), floats));
        const auto back = codec.encode(floats);
        ASSERT_TRUE(back);
        auto again = *Tensor::allocate(DType::kFloat32, {static_cast<std::int64_t>(count)});
        ASSERT_TRUE(codec.decode(back->bytes(), again));
        EXPECT_EQ(codec_error(floats, again).max, 0) << name;
      }
    }
  }
}

TEST(ZeroBitmap, TakesOneBitAnElementAndTheOthers) {
  std::vector<float> values(128);
  values[5] = 1;
  values[64] = -0.0F;
  const auto encoded = (*find_codec("zero-bitmap"))->encode(tensor_from(values));
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->size_bytes(), 16U + 2 * 4U);
}

TEST(CodecErrors, AreRelativeToTheLargestMagnitude) {
  const CodecError error = codec_error(tensor_from({1, -4, 0, 2}), tensor_from({1, -4, 1, 4}));
  EXPECT_DOUBLE_EQ(error.max, 0.5);
  EXPECT_DOUBLE_EQ(error.mean, 0.1875);
  const auto is_worst = [](const Tensor& a, const Tensor& b) {
    return std::isinf(codec_error(a, b).max) && std::isinf(codec_error(a, b).mean);
  };
  EXPECT_TRUE(is_worst(tensor_from({1}), tensor_from({NAN})));
  EXPECT_TRUE(is_worst(tensor_from({1}), tensor_from({1, 1})));
  EXPECT_TRUE(is_worst(tensor_from({0}), tensor_from({1})));
  EXPECT_TRUE(is_worst(tensor_from({INFINITY}), tensor_from({1})));
  EXPECT_EQ(codec_error(tensor_from({NAN, -0.0F}), tensor_from({-NAN, 0.0F})).max, 0);
}

}  // namespace
}  // namespace pareto::wire
