// Encodings as a hostile peer would make them: refused, or decoded to any numbers, but without
// harm.
#include <gtest/gtest.h>

#include "core/wire/codec.h"
#include "tests/core/wire/codec_tensors.h"

namespace pareto::wire {
namespace {

/// A copy that ends where its memory ends, so that a sanitizer sees every byte read behind it.
Expected<> decode_exact(const Codec& codec, std::span<const std::byte> bytes, Tensor& into) {
  const std::vector<std::byte> copy(bytes.begin(), bytes.end());
  return codec.decode(std::span(copy.data(), copy.size()), into);
}

/// Returns a tensor whose memory ends with it, unlike that of Tensor::allocate().
Tensor exact_tensor(DType dtype, const Shape& shape) {
  const auto bytes = static_cast<std::size_t>(*element_count(shape)) * size_of(dtype);
  auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  const std::byte* const data = memory->data();
  return *Tensor::borrow(dtype, shape, data, std::move(memory));
}

class HostileCodec : public testing::TestWithParam<const Codec*> {
 protected:
  const Codec& codec() const { return *GetParam(); }
};

TEST_P(HostileCodec, TruncatedOrLengthenedAnywhereIsRefused) {
  std::mt19937 random(23);
  for (const Shape& shape : {Shape{150}, Shape{2, 3, 25}, Shape{64}, Shape{}}) {
    const Tensor tensor = activations(random, shape);
    const auto encoded = codec().encode(tensor);
    ASSERT_TRUE(encoded) << encoded.error().message;
    Tensor into = exact_tensor(DType::kFloat32, shape);
    for (std::size_t size = 0; size < encoded->size_bytes(); ++size) {
      const auto decoded = decode_exact(codec(), encoded->bytes().first(size), into);
      ASSERT_FALSE(decoded) << size;
      EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt) << decoded.error().message;
    }
    for (const std::size_t more : {1, 4, 8, 64}) {
      std::vector<std::byte> longer(encoded->bytes().begin(), encoded->bytes().end());
      longer.insert(longer.end(), more, std::byte{0});
      const auto decoded = decode_exact(codec(), longer, into);
      ASSERT_FALSE(decoded) << more;
      EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt) << decoded.error().message;
    }
  }
}

TEST_P(HostileCodec, OfAnotherShapeOrDtypeDoesNoHarm) {
  std::mt19937 random(29);
  const auto encoded = codec().encode(activations(random, {4, 100}));
  ASSERT_TRUE(encoded);
  for (const Shape& shape :
       {Shape{}, Shape{0}, Shape{399}, Shape{401}, Shape{100, 4}, Shape{4000}}) {
    for (const DType dtype : every_dtype()) {
      Tensor into = exact_tensor(dtype, shape);
      const auto decoded = decode_exact(codec(), encoded->bytes(), into);
      if (!decoded) {
        EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt) << decoded.error().message;
      }
      if (!codec().takes(dtype)) {
        EXPECT_FALSE(decoded) << to_string(dtype);
      }
    }
  }
}

TEST_P(HostileCodec, DamagedBytesDoNoHarm) {
  std::mt19937 random(31);
  for (int round = 0; round < 3000; ++round) {
    const Shape shape{1 + static_cast<std::int64_t>(random() % 3), 5,
                      1 + static_cast<std::int64_t>(random() % 40)};
    const auto encoded = codec().encode(activations(random, shape));
    ASSERT_TRUE(encoded);
    std::vector<std::byte> bytes(encoded->bytes().begin(), encoded->bytes().end());
    const unsigned damages = 1 + random() % 4;
    for (unsigned i = 0; i < damages; ++i) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) {
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(random() % bytes.size()),
                  bytes.end());
    }
    Tensor into = exact_tensor(DType::kFloat32, shape);
    const auto decoded = decode_exact(codec(), bytes, into);
    if (!decoded) {
      EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt) << decoded.error().message;
    }
  }
}

TEST_P(HostileCodec, RandomBytesDoNoHarm) {
  std::mt19937 random(37);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> bytes(random() % 600);
    const bool sparse = random() % 2 == 0;
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(sparse && random() % 4 != 0 ? 0 : random());
    }
    Tensor into = exact_tensor(DType::kFloat32, {static_cast<std::int64_t>(random() % 200)});
    const auto decoded = decode_exact(codec(), bytes, into);
    if (!decoded) {
      EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt) << decoded.error().message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, HostileCodec, testing::ValuesIn(builtin_codecs()), CodecName());

void expect_corrupt(std::string_view codec, const std::vector<std::byte>& bytes, const Shape& shape,
                    std::string_view part) {
  Tensor into = exact_tensor(DType::kFloat32, shape);
  const auto decoded = decode_exact(**find_codec(codec), bytes, into);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(decoded.error().message.find(part), std::string::npos) << decoded.error().message;
}

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> numbers) {
  std::vector<std::byte> bytes;
  for (const unsigned number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

TEST(HostileEncodings, AreRefusedForWhatIsWrong) {
  const auto infinite = bytes_of({0, 0, 0x80, 0x7F, 0, 0, 0, 0, 1});
  expect_corrupt("int8", infinite, {1}, "not finite");
  expect_corrupt("int8-channel", infinite, {1}, "not finite");
  expect_corrupt("int8", bytes_of({0, 0, 0x80, 0x3F, 0, 0, 0xC0, 0x7F, 1}), {1}, "not finite");
  // A bit for an element that does not exist, with its value behind it.
  expect_corrupt("zero-bitmap", bytes_of({2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}), {1},
                 "last element");
  expect_corrupt("zero-bitmap", bytes_of({1, 0, 0, 0, 0, 0, 0, 0}), {1}, "8 bytes");
  expect_corrupt("zero-bitmap", bytes_of({1, 0, 0}), {1}, "bitmap of 3 bytes");
  expect_corrupt("zstd", bytes_of({0x25, 0xB5, 0x2F, 0xFD, 0, 0}), {1}, "no zstd");  // version 0.5
  expect_corrupt("fp16", bytes_of({1, 2, 3}), {1}, "3 bytes");
}

TEST(HostileEncodings, TwoZstdFramesAreNotOne) {
  const Codec& zstd = **find_codec("zstd");
  const auto half = zstd.encode(tensor_from({1, 2, 3, 4}));
  const auto nothing = zstd.encode(tensor_from({}));
  ASSERT_TRUE(half && nothing);
  for (const auto* second : {&*half, &*nothing}) {
    std::vector<std::byte> bytes(half->bytes().begin(), half->bytes().end());
    bytes.insert(bytes.end(), second->bytes().begin(), second->bytes().end());
    expect_corrupt("zstd", bytes, {8}, "no zstd");
    expect_corrupt("zstd", bytes, {4}, "no zstd");
  }
}

}  // namespace
}  // namespace pareto::wire
