#include "runtime/torch/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace pareto::runtime {
namespace {

constexpr c10::ScalarType kTypes[]{at::kByte, at::kChar,          at::kShort,        at::kInt,
                                   at::kLong, at::kHalf,          at::kFloat,        at::kDouble,
                                   at::kBool, at::kComplexDouble, at::kComplexFloat, at::kBFloat16};

at::Tensor random_tensor(std::mt19937_64& random) {
  std::vector<std::int64_t> sizes;
  for (std::uint64_t d = random() % 5; d > 0; --d) {
    sizes.push_back(static_cast<std::int64_t>(random() % 4));
  }
  at::Tensor tensor = (at::rand(sizes) * 9).to(kTypes[random() % std::size(kTypes)]);
  if (tensor.dim() > 1 && random() % 2 == 0) tensor = tensor.transpose(0, tensor.dim() - 1);
  if (tensor.dim() > 0 && random() % 3 == 0) {
    tensor = tensor.slice(0, tensor.size(0) > 1 ? 1 : 0);
  }
  if (tensor.dim() == 4 && random() % 2 == 0) {
    tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
  }
  return tensor;
}

/// A value of any kind, and the type that a graph would expect there.
std::pair<c10::IValue, c10::TypePtr> random_value(std::mt19937_64& random, int depth) {
  const auto kind = random() % (depth > 0 ? 8 : 5);
  switch (kind) {
    case 0:
      return {random_tensor(random), c10::TensorType::get()};
    case 1:
      return {static_cast<std::int64_t>(random()), c10::IntType::get()};
    case 2:
      return {static_cast<double>(random()) / 3, c10::FloatType::get()};
    case 3:
      return {random() % 2 == 0, c10::BoolType::get()};
    case 4:
      return {std::string("t\xc3\xa9xt"), c10::StringType::get()};
    case 5: {
      const auto [first, type] = random_value(random, depth - 1);
      c10::impl::GenericList list(type);
      list.push_back(first);
      list.push_back(first);
      return {list, c10::ListType::create(type)};
    }
    case 6: {
      const auto [first, type] = random_value(random, depth - 1);
      const auto [second, other] = random_value(random, depth - 1);
      return {c10::ivalue::Tuple::create({first, second, c10::IValue()}),
              c10::TupleType::create({type, other, c10::NoneType::get()})};
    }
    default: {
      const auto [first, type] = random_value(random, depth - 1);
      c10::impl::GenericDict dict(c10::StringType::get(), type);
      dict.insert("b", first);
      dict.insert("a", first);
      return {dict, c10::DictType::create(c10::StringType::get(), type)};
    }
  }
}

TEST(Convert, TensorsOfEveryTypeAndLayoutKeepTheirElements) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 400; ++i) {
    const at::Tensor tensor = random_tensor(random);
    const auto converted = from_torch(tensor);
    ASSERT_TRUE(converted) << converted.error().message;
    EXPECT_EQ(converted->layout(), pareto::MemoryLayout::kRowMajor);
    const at::Tensor back = to_torch(*converted);
    ASSERT_EQ(back.scalar_type(), tensor.scalar_type()) << i;
    ASSERT_TRUE(back.equal(tensor)) << i << ": " << tensor.sizes() << tensor.strides();
  }
}

TEST(Convert, DenseTensorsShareTheirBytes) {
  const at::Tensor dense = at::randn({3, 4});
  const auto converted = from_torch(dense);
  ASSERT_TRUE(converted);
  EXPECT_EQ(static_cast<const void*>(converted->bytes().data()), dense.data_ptr());
  EXPECT_EQ(to_torch(*converted).data_ptr(), dense.data_ptr());
  const auto copied = from_torch(dense.t());
  ASSERT_TRUE(copied);
  EXPECT_NE(static_cast<const void*>(copied->bytes().data()), dense.data_ptr());
}

TEST(Convert, BytesOutliveWhereTheyCameFrom) {
  at::Tensor tensor = at::arange(100, at::kFloat);
  const at::Tensor expected = tensor.clone();
  auto converted = from_torch(tensor);
  tensor.reset();
  at::Tensor back = to_torch(*converted);
  converted = tl::unexpected(Error{ErrorCode::kInternal, ""});
  EXPECT_TRUE(back.equal(expected));
}

TEST(Convert, PicturesKeepTheirLayoutAsValues) {
  const at::Tensor picture = at::randn({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const auto value = from_ivalue(picture);
  ASSERT_TRUE(value);
  const auto* tensor = value->get_if<Tensor>();
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->layout(), pareto::MemoryLayout::kChannelsLast);
  EXPECT_EQ(static_cast<const void*>(tensor->bytes().data()), picture.data_ptr());
  const at::Tensor back = to_ivalue(*value, c10::TensorType::get()).toTensor();
  EXPECT_TRUE(back.equal(picture));
  EXPECT_TRUE(back.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(Convert, ConjugatesAndNegativesAreResolved) {
  const at::Tensor numbers = at::randn({3, 2}, at::kComplexFloat);
  const auto converted = from_torch(numbers.conj());
  ASSERT_TRUE(converted);
  EXPECT_TRUE(to_torch(*converted).equal(numbers.conj().resolve_conj()));
  const auto imaginary = from_torch(at::imag(numbers.conj()));
  ASSERT_TRUE(imaginary);
  EXPECT_TRUE(to_torch(*imaginary).equal(-at::imag(numbers)));
}

TEST(Convert, TensorsWithoutBytesOfTheirOwnAreRefused) {
  for (const at::Tensor& tensor :
       {at::randn({3, 3}).to_sparse(), at::quantize_per_tensor(at::rand({4}), 0.1, 0, at::kQInt8),
        at::empty({3}, at::TensorOptions().device(c10::kMeta))}) {
    const auto converted = from_torch(tensor);
    ASSERT_FALSE(converted) << tensor.toString();
    EXPECT_EQ(converted.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(converted.error().message, testing::HasSubstr("cannot cross a boundary"));
  }
}

TEST(Convert, ValuesOfAnyShapeComeBack) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 400; ++i) {
    const auto [value, type] = random_value(random, 3);
    const auto converted = from_ivalue(value);
    ASSERT_TRUE(converted) << converted.error().message;
    const auto again = from_ivalue(to_ivalue(*converted, type));
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_TRUE(bit_equal(*again, *converted)) << i;
  }
}

TEST(Convert, AnotherTypeThanTheGraphExpectsIsRefused) {
  const std::vector<std::pair<Value, c10::TypePtr>> kOthers{
      {Value(std::int64_t{1}), c10::StringType::get()},
      {Value(std::int64_t{1}), c10::TensorType::get()},
      {Value(std::int64_t{1}), c10::FloatType::get()},
      {Value(1.5), c10::IntType::get()},
      {Value(true), c10::IntType::get()},
      {Value(std::string("a")), c10::BoolType::get()},
      {Value(None{}), c10::TensorType::get()},
      {Value(None{}), c10::ListType::ofInts()},
      {Value(None{}), c10::IntType::get()},
      {Value(None{}), c10::TupleType::create({})},
      {Value(None{}), c10::DictType::create(c10::StringType::get(), c10::IntType::get())},
      {Value(List{}), c10::TensorType::get()},
      {Value(List{{Value(1.5)}}), c10::ListType::ofInts()},
      {Value(Tuple{{Value(true)}}), c10::TupleType::create({})},
      {Value(Tuple{}), c10::ListType::ofInts()},
      {Value(Dict{}), c10::ListType::ofInts()},
      {from_ivalue(at::ones({1})).value(), c10::IntType::get()}};
  for (const auto& [value, type] : kOthers) {
    EXPECT_THROW(to_ivalue(value, type), c10::Error) << describe(value) << type->repr_str();
  }
  // What may be absent may also be there.
  const auto optional = c10::OptionalType::create(c10::IntType::get());
  EXPECT_EQ(to_ivalue(Value(std::int64_t{1}), optional).toInt(), 1);
  EXPECT_TRUE(to_ivalue(Value(None{}), optional).isNone());
}

TEST(Convert, WhatNoBoundaryTakesIsNamed) {
  c10::IValue deep = std::int64_t{1};
  for (int i = 0; i < 100; ++i) deep = c10::ivalue::Tuple::create({deep});
  EXPECT_THAT(from_ivalue(deep).error().message, testing::HasSubstr("nested too deeply"));
  const auto device = from_ivalue(c10::Device(c10::kCPU));
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, testing::HasSubstr("a value of type Device"));
  EXPECT_TRUE(std::holds_alternative<Uninitialized>(from_ivalue(at::Tensor())->storage()));
}

}  // namespace
}  // namespace pareto::runtime
