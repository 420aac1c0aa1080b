#include "partitioner/model/graph/input_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace pareto::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

InputShape parsed(const std::string& text) {
  const auto shapes = parse_input_shapes(text);
  EXPECT_TRUE(shapes) << shapes.error().message;
  return shapes ? shapes->front() : InputShape{};
}

std::string refusal(const std::string& text) {
  const auto shapes = parse_input_shapes(text);
  return shapes ? "accepted" : shapes.error().message;
}

template <typename Element>
Tensor tensor(DType dtype, Shape shape, const std::vector<Element>& elements) {
  Tensor made = Tensor::allocate(dtype, std::move(shape)).value();
  EXPECT_EQ(made.size_bytes(), elements.size() * sizeof(Element));
  std::memcpy(made.mutable_bytes().data(), elements.data(), made.size_bytes());
  return made;
}

template <typename Element>
std::vector<Element> elements(const Value& value) {
  const Tensor& tensor = *value.get_if<Tensor>();
  std::vector<Element> all(tensor.size_bytes() / sizeof(Element));
  std::memcpy(all.data(), tensor.bytes().data(), tensor.size_bytes());
  return all;
}

TEST(ParseInputShapes, SizesAndTypes) {
  const auto shapes = parse_input_shapes("3x224x224; 128:int64;scalar:bool");
  ASSERT_TRUE(shapes) << shapes.error().message;
  ASSERT_EQ(shapes->size(), 3U);
  EXPECT_EQ((*shapes)[0].per_sample, (Shape{3, 224, 224}));
  EXPECT_EQ((*shapes)[1].dtype, DType::kInt64);
  EXPECT_TRUE((*shapes)[2].per_sample.empty());
  EXPECT_EQ((*shapes)[2].dtype, DType::kBool);
}

TEST(ParseInputShapes, BadOnesNameThePart) {
  for (const char* text : {"", "3x-1", "axb", "0x3", "3x224:float99", ":int64"}) {
    const auto shapes = parse_input_shapes(text);
    EXPECT_FALSE(shapes) << text;
  }
  EXPECT_THAT(parse_input_shapes("3x224:float99").error().message, HasSubstr("float99"));
  EXPECT_THAT(parse_input_shapes("3xfoo").error().message, HasSubstr("foo"));
}

TEST(InputShape, TheBatchStandsInFrontUnlessItIsNamed) {
  EXPECT_EQ(input_spec(parsed("3x8:uint8")).describe(), "uint8[Bx3x8]");
  EXPECT_EQ(input_spec(parsed("scalar:int64")).describe(), "int64[B]");
  EXPECT_EQ(input_spec(parsed("2xBx8")).describe(), "float32[2xBx8]");
  EXPECT_EQ(input_spec(parsed("[2x78]:int64")).describe(), "int64[2x78]");
  EXPECT_EQ(input_spec(parsed("[scalar]")).describe(), "float32[]");
  const auto several = parse_input_shapes("Bx5x6; 2xBx8;9x9:bool").value();
  ASSERT_EQ(several.size(), 3U);
  EXPECT_EQ(input_spec(several[1]).describe(), "float32[2xBx8]");
  EXPECT_EQ(input_spec(several[2]).describe(), "bool[9x9]") << "it has no batch";
}

TEST(InputShape, APartThatIsMissingIsNoPart) {
  EXPECT_THAT(refusal("3x128x128x"), HasSubstr("a size is missing behind \"3x128x128x\""));
  EXPECT_THAT(refusal("3xx128x128"), HasSubstr("a size is missing behind \"3x\""));
  EXPECT_THAT(refusal("3x128xx"), HasSubstr("a size is missing behind \"3x128x\""));
  EXPECT_THAT(refusal("x3:int64"), HasSubstr("a size is missing before the first 'x'"));
  EXPECT_THAT(refusal("3x128x128;"), HasSubstr("an input is missing behind \"3x128x128;\""));
  EXPECT_THAT(refusal(";3"), HasSubstr("an input is missing before the first ';'"));
  EXPECT_THAT(refusal("Bx5;;9x9"), HasSubstr("an input is missing behind \"Bx5;\""));
}

TEST(InputShape, IntegersHaveARange) {
  EXPECT_EQ(parsed("7:int64=1..39").range, (IntegerRange{1, 39}));
  EXPECT_EQ(parsed("scalar:int64=7").range, (IntegerRange{7, 7}));
  EXPECT_EQ(parsed("4:bool=0..1").range, (IntegerRange{0, 1}));
  EXPECT_EQ(parsed("4:int32=-3..-1").range, (IntegerRange{-3, -1}));
  EXPECT_THAT(refusal("7:int64=39..1"), HasSubstr("is no range"));
  EXPECT_THAT(refusal("7:int64=a"), HasSubstr("\"a\" is no range"));
  EXPECT_THAT(refusal("7:uint8=0..300"), HasSubstr("uint8 holds 0 to 255"));
  EXPECT_THAT(refusal("7=0..1"), HasSubstr("only integers and bools"));
  EXPECT_THAT(refusal("BxBx3"), HasSubstr("names the batch twice"));
}

TEST(InputShape, IsWrittenAsItIsRead) {
  for (const char* text : {"3x224x224", "7:int64=1..39;scalar:int64=7", "[Bx5x6];[2xBx8]",
                           "[2x78]:int64;[scalar]:bool=0..1"}) {
    const auto shapes = parse_input_shapes(text);
    ASSERT_TRUE(shapes) << shapes.error().message;
    EXPECT_EQ(to_text(*shapes), text);
  }
  EXPECT_EQ(to_text(parse_input_shapes("Bx5x6;2xBx8").value()), "[Bx5x6];[2xBx8]");
}

TEST(InputShape, MadeUpIntegersLieWithinTheirRange) {
  const auto made = elements<std::int64_t>(example_of(parsed("50:int64=3..6"), 4, 1).value());
  EXPECT_EQ(made.size(), 200U);
  EXPECT_EQ(*std::ranges::min_element(made), 3);
  EXPECT_EQ(*std::ranges::max_element(made), 6);
  EXPECT_THAT(elements<std::int64_t>(example_of(parsed("2:int64"), 1, 1).value()),
              ElementsAre(0, 0));
}

TEST(InputShape, DataAreTheSamplesOfARequest) {
  const auto shapes =
      with_data({}, {tensor<std::int64_t>(DType::kInt64, {3, 2}, {1, 2, 3, 4, 5, 6})}, {"a.npy"});
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_EQ(batch_of_data(*shapes), 3);
  EXPECT_EQ(to_text(*shapes), "2:int64=1..6");
  const auto at = [&](std::int64_t batch) {
    return elements<std::int64_t>(example_of(shapes->front(), batch, 9).value());
  };
  EXPECT_THAT(at(3), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(at(1), ElementsAre(1, 2));
  EXPECT_THAT(at(4), ElementsAre(1, 2, 3, 4, 5, 6, 1, 2)) << "from the first again";
}

TEST(InputShape, DataHaveTheirBatchWhereTheShapeSaysSo) {
  const Tensor first = tensor<float>(DType::kFloat32, {2, 1}, {1, 2});
  const Tensor second = tensor<float>(DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::string> names{"x.npy", "h.npy"};
  const auto in_front = with_data({}, {first, second}, names);
  ASSERT_FALSE(in_front);
  EXPECT_THAT(in_front.error().message, HasSubstr("x.npy has a batch of 2 and h.npy one of 3"));
  const auto shapes = with_data(parse_input_shapes("Bx1;3xB").value(), {first, second}, names);
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_EQ(batch_of_data(*shapes), 2);
  EXPECT_THAT(elements<float>(example_of((*shapes)[1], 1, 0).value()), ElementsAre(1, 3, 5));
  EXPECT_THAT(elements<float>(example_of((*shapes)[1], 3, 0).value()),
              ElementsAre(1, 2, 1, 3, 4, 3, 5, 6, 5));
  const auto wrong = with_data(parse_input_shapes("Bx1;4xB").value(), {first, second}, names);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              HasSubstr("h.npy: float32[3x2] does not fit the shape float32[4xB]"));
}

TEST(InputShape, DataWithoutABatchAreTakenWhole) {
  const auto shapes =
      with_data(parse_input_shapes("[2x2]:int64").value(),
                {tensor<std::int64_t>(DType::kInt64, {2, 2}, {0, 1, 1, 2})}, {"edges.npy"});
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_FALSE(has_batch(*shapes));
  EXPECT_EQ(batch_of_data(*shapes), std::nullopt);
  EXPECT_THAT(elements<std::int64_t>(example_of(shapes->front(), 5, 0).value()),
              ElementsAre(0, 1, 1, 2));
}

TEST(InputShape, PicturesMayHoldAnyByte) {
  const auto shapes =
      with_data({}, {tensor<std::uint8_t>(DType::kUInt8, {1, 2}, {7, 9})}, {"a.npy"});
  ASSERT_TRUE(shapes);
  EXPECT_EQ(shapes->front().range, (IntegerRange{0, 255}));
}

}  // namespace
}  // namespace pareto::model
