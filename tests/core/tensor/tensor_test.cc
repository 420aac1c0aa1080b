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
