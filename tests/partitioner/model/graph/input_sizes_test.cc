// Inputs of several sizes: their names, and the inputs at one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/graph/input_shape.h"

namespace pareto::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<InputShape> parsed_sizes(const std::string& text) {
  const auto shapes = parse_input_shapes(text);
  EXPECT_TRUE(shapes) << shapes.error().message;
  return shapes ? *shapes : std::vector<InputShape>{};
}

std::vector<std::string> names_of_sizes(const std::string& text) {
  const auto sizes = varying_sizes(parsed_sizes(text));
  EXPECT_TRUE(sizes) << sizes.error().message;
  std::vector<std::string> names;
  for (const VaryingSize& size : *sizes) names.push_back(size.name);
  return names;
}

TEST(VaryingSizes, AreNamedByTheirNumber) {
  EXPECT_THAT(names_of_sizes("3x8"), IsEmpty());
  EXPECT_THAT(names_of_sizes("3x8..16x5"), ElementsAre("L"));
  EXPECT_THAT(names_of_sizes("3x8..16x4..8"), ElementsAre("H", "W"));
  EXPECT_THAT(names_of_sizes("8..16x8..16x8..16"), ElementsAre("D", "H", "W"));
  EXPECT_THAT(names_of_sizes("2..4x2..4x2..4x2..4"), ElementsAre("S0", "S1", "S2", "S3"));
}

TEST(VaryingSizes, OfSeveralInputsAreThoseOfTheOneWithMost) {
  EXPECT_THAT(names_of_sizes("8..16;3;8..16x4..8"), ElementsAre("H", "W"));
  const auto sizes = varying_sizes(parsed_sizes("3x8..16/4;8..16/4x2..3")).value();
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0], (VaryingSize{"H", 8, 16, 4}));
  EXPECT_EQ(sizes[1], (VaryingSize{"W", 2, 3, 1}));
}

TEST(VaryingSizes, OfTwoInputsHaveOneRange) {
  for (const char* const text : {"8..16;8..17", "8..16;7..16", "8..16/2;8..16"}) {
    const auto sizes = varying_sizes(parsed_sizes(text));
    ASSERT_FALSE(sizes) << text;
    EXPECT_EQ(sizes.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(sizes.error().message, HasSubstr("range 0 of input 1 is"));
  }
  EXPECT_FALSE(varying_sizes(parsed_sizes("8..16x4..8;8..16x4..9")));
}

TEST(WithSizes, PutsEachSizeInItsPlaceOfEveryInput) {
  const auto shapes = parsed_sizes("3x8..16x4..8;5x8..16x7");
  EXPECT_THAT(nominal_sizes(shapes), ElementsAre(16, 8)) << "the largest, unless one is named";
  const auto smaller = with_sizes(shapes, {10, 5});
  EXPECT_EQ(smaller[0].per_sample, (Shape{3, 10, 5}));
  EXPECT_EQ(smaller[1].per_sample, (Shape{5, 10, 7}));
  EXPECT_THAT(nominal_sizes(smaller), ElementsAre(10, 5));
  EXPECT_EQ(with_sizes(shapes, {12})[0].per_sample, (Shape{3, 12, 8})) << "the others stay";
  EXPECT_EQ(with_sizes(shapes, {12, 6, 99})[0].per_sample, (Shape{3, 12, 6}));
  EXPECT_EQ(with_sizes(shapes, {})[0].per_sample, shapes[0].per_sample);
}

TEST(WithSizes, DropsDataOfOtherSizesOnly) {
  auto shapes = parsed_sizes("8..16;3");
  for (InputShape& shape : shapes) shape.data = Tensor();
  const auto same = with_sizes(shapes, {16});
  EXPECT_TRUE(same[0].data && same[1].data);
  const auto other = with_sizes(shapes, {8});
  EXPECT_FALSE(other[0].data);
  EXPECT_TRUE(other[1].data) << "its size does not vary";
}

TEST(WithoutRanges, TheSizesThatAreThereStay) {
  const auto fixed = without_ranges(with_sizes(parsed_sizes("3x8..16x4..8"), {9, 7}));
  EXPECT_EQ(fixed[0].per_sample, (Shape{3, 9, 7}));
  EXPECT_THAT(varying_sizes(fixed).value(), IsEmpty());
  EXPECT_THAT(nominal_sizes(fixed), IsEmpty());
}

}  // namespace
}  // namespace pareto::model
