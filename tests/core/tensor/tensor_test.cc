#include "core/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace pareto {
namespace {

TEST(DType, NumbersAndNamesReadBack) {
  int known = 0;
  for (int number = 0; number < 256; ++number) {
    const auto dtype = dtype_from_number(static_cast<std::uint8_t>(number));
    if (!dtype) continue;
    ++known;
    EXPECT_EQ(static_cast<int>(*dtype), number);
    EXPECT_EQ(dtype_from_string(to_string(*dtype)), *dtype);
    EXPECT_GE(size_of(*dtype), 1U);
  }
  EXPECT_EQ(known, 13);
  EXPECT_FALSE(dtype_from_string("qint8"));
}

TEST(Tensor, AllocatesAligned) {
  for (const std::int64_t count : {0, 1, 15, 16, 17, 1000}) {
    const auto tensor = Tensor::allocate(DType::kFloat32, {count});
    ASSERT_TRUE(tensor);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->bytes().data()) % Tensor::kAlignment, 0U);
    EXPECT_EQ(tensor->size_bytes(), static_cast<std::size_t>(count) * 4);
  }
}

TEST(Tensor, RefusesImpossibleShapes) {
  EXPECT_EQ(Tensor::allocate(DType::kInt8, {2, -1}).error().code, ErrorCode::kInvalidArgument);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Tensor::allocate(DType::kInt8, {huge, huge}).error().code, ErrorCode::kExhausted);
  EXPECT_EQ(Tensor::allocate(DType::kFloat64, {huge}).error().code, ErrorCode::kExhausted);
  EXPECT_EQ(element_count(Shape{huge, huge, 0}).value(), 0);
  EXPECT_EQ(element_count(Shape{}).value(), 1);
}

TEST(Tensor, BorrowedBytesLiveAsLongAsAnyCopy) {
  auto bytes = std::make_shared<std::vector<std::byte>>(8, std::byte{5});
  const std::weak_ptr<std::vector<std::byte>> watch = bytes;
  auto tensor =
      std::make_unique<Tensor>(Tensor::borrow(DType::kUInt8, {8}, bytes->data(), bytes).value());
  bytes.reset();
  const Tensor copy = *tensor;
  tensor.reset();
  ASSERT_FALSE(watch.expired());
  EXPECT_EQ(copy.bytes()[7], std::byte{5});
}

/// Image 0 of channels-last {2, 2, 1, 3} is 0 10 1 11 2 12, image 1 the same and 20 more.
Tensor two_images() {
  auto tensor = Tensor::allocate(DType::kInt16, {2, 2, 1, 3}, MemoryLayout::kChannelsLast).value();
  const std::int16_t numbers[] = {0, 10, 1, 11, 2, 12, 20, 30, 21, 31, 22, 32};
  std::memcpy(tensor.mutable_bytes().data(), numbers, sizeof(numbers));
  return tensor;
}

TEST(Tensor, ChannelsLastIsForImages) {
  const auto refused = Tensor::allocate(DType::kInt8, {2, 3, 4}, MemoryLayout::kChannelsLast);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(Tensor::borrow(DType::kInt8, {}, nullptr, nullptr, MemoryLayout::kChannelsLast));
}

TEST(Tensor, RowMajorPutsChannelsApart) {
  const Tensor rows = row_major(two_images()).value();
  EXPECT_EQ(rows.layout(), MemoryLayout::kRowMajor);
  const std::int16_t expected[] = {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32};
  EXPECT_EQ(std::memcmp(rows.bytes().data(), expected, sizeof(expected)), 0);
  EXPECT_EQ(row_major(rows).value().owner(), rows.owner()) << "it is so already";
}

TEST(Tensor, RowMajorOfEveryDtypeAndOddSizes) {
  for (int number = 0; number < 256; ++number) {
    const auto dtype = dtype_from_number(static_cast<std::uint8_t>(number));
    if (!dtype) continue;
    for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 0, 3, 3}, Shape{2, 19, 5, 7}}) {
      auto tensor = Tensor::allocate(*dtype, shape, MemoryLayout::kChannelsLast).value();
      for (std::size_t i = 0; i < tensor.size_bytes(); ++i) {
        tensor.mutable_bytes()[i] = static_cast<std::byte>(i * 131 / 7);
      }
      const Tensor rows = row_major(tensor).value();
      const std::size_t size = size_of(*dtype);
      const auto channels = static_cast<std::size_t>(shape[1]);
      const auto plane = static_cast<std::size_t>(shape[2] * shape[3]);
      for (std::size_t i = 0; i * size < rows.size_bytes(); ++i) {
        const std::size_t from =
            (i / (channels * plane) * plane + i % plane) * channels + i / plane % channels;
        ASSERT_EQ(
            std::memcmp(rows.bytes().data() + i * size, tensor.bytes().data() + from * size, size),
            0)
            << to_string(*dtype) << " " << i;
      }
    }
  }
}

TEST(Tensor, EqualityIsOfElementsNotOfTheirOrderInMemory) {
  const Tensor images = two_images();
  const Tensor rows = row_major(images).value();
  EXPECT_TRUE(bit_equal(images, rows));
  EXPECT_TRUE(bit_equal(rows, images));
  const Tensor same_bytes =
      Tensor::borrow(images.dtype(), images.shape(), images.bytes().data(), images.owner()).value();
  EXPECT_FALSE(bit_equal(images, same_bytes));
}

TEST(Tensor, BitEqualityLooksAtTypeShapeAndBytes) {
  auto a = Tensor::allocate(DType::kFloat32, {2}).value();
  auto b = Tensor::allocate(DType::kFloat32, {2}).value();
  const float with_negative_zero[2] = {-0.0F, std::numeric_limits<float>::quiet_NaN()};
  const float with_zero[2] = {0.0F, std::numeric_limits<float>::quiet_NaN()};
  std::memcpy(a.mutable_bytes().data(), with_negative_zero, 8);
  std::memcpy(b.mutable_bytes().data(), with_negative_zero, 8);
  EXPECT_TRUE(bit_equal(a, b));
  std::memcpy(b.mutable_bytes().data(), with_zero, 8);
  EXPECT_FALSE(bit_equal(a, b));
  EXPECT_FALSE(
      bit_equal(a, Tensor::borrow(DType::kInt32, {2}, a.bytes().data(), a.owner()).value()));
  EXPECT_FALSE(
      bit_equal(a, Tensor::borrow(DType::kFloat32, {1, 2}, a.bytes().data(), a.owner()).value()));
}

}  // namespace
}  // namespace pareto
