#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/graph/split_points.h"
#include "tests/partitioner/model/graph/hand_made.h"

namespace pareto::model {
namespace {

using test::HandMade;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Six operators: features.0 (conv, norm), features.1, features.2 (two), head.
class Selecting : public ::testing::Test {
 protected:
  Selecting() {
    HandMade made;
    made.input("x");
    made.op("a", "aten::conv2d", "features.0.conv", {"x"}, 60);
    made.op("b", "aten::batch_norm", "features.0.norm", {"a"}, 10);
    made.op("c", "aten::relu", "features.1", {"b"}, 10);
    made.op("d", "aten::relu", "features.2.one", {"c"}, 10);
    made.op("e", "aten::add", "features.2", {"d", "c"}, 5);
    made.op("f", "aten::linear", "head", {"e"}, 5);
    made.output("f");
    points_ = find_split_points(made.graph(), {});
  }

  std::vector<std::int64_t> positions(const std::string& text) const {
    const auto chosen = select_split_points(points_, text);
    EXPECT_TRUE(chosen) << chosen.error().message;
    std::vector<std::int64_t> result;
    if (!chosen) return result;
    for (const std::size_t index : *chosen) result.push_back(points_[index].position);
    return result;
  }
  Error error(const std::string& text) const {
    const auto chosen = select_split_points(points_, text);
    EXPECT_FALSE(chosen) << text;
    return chosen ? Error{} : chosen.error();
  }

  std::vector<SplitPoint> points_;
};

TEST_F(Selecting, ByModulePathAndPosition) {
  EXPECT_THAT(positions("after:features.0"), ElementsAre(2));
  EXPECT_THAT(positions("op:4"), ElementsAre(4));
  EXPECT_THAT(positions("op:4, after:features.0,op:4"), ElementsAre(2, 4)) << "ascending, once";
}

TEST_F(Selecting, AllButTheIllegal) { EXPECT_THAT(positions("all"), ElementsAre(2, 3, 4, 5)); }

TEST_F(Selecting, ModulesOfTheOuterLevel) {
  EXPECT_THAT(positions("modules"), ElementsAre(2, 3, 5));
  EXPECT_THAT(positions("auto"), ElementsAre(2, 3, 5));
}

TEST_F(Selecting, PositionsOfAModelWithoutModules) {
  for (SplitPoint& point : points_) point.is_module_end = false;
  points_[1].tensors = 2;
  EXPECT_THAT(positions("modules"), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(positions("auto"), ElementsAre(3, 5)) << "two cross position 4";
  for (SplitPoint& point : points_) point.tensors = 2;
  EXPECT_THAT(positions("auto"), ElementsAre(2, 3, 4, 5)) << "several cross everywhere";
}

TEST_F(Selecting, EndsOfModulesThatSeveralTensorsCross) {
  for (SplitPoint& point : points_) point.tensors = point.is_module_end ? 2 : 1;
  EXPECT_THAT(positions("auto"), ElementsAre(2, 3, 5));
}

TEST_F(Selecting, ByShareOfTheWork) {
  EXPECT_THAT(positions("percent:50"), ElementsAre(2)) << "60 % would be nearer, and is illegal";
  EXPECT_THAT(positions("percent:81"), ElementsAre(3));
  EXPECT_THAT(positions("percent:100"), ElementsAre(5));
}

TEST_F(Selecting, UnknownNamesComeWithTheNearest) {
  const Error unknown = error("after:feature.1");
  EXPECT_EQ(unknown.code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.message, HasSubstr("after:features.1"));
  EXPECT_THAT(error("features.2").message, HasSubstr("after:features.2"));
  EXPECT_THAT(error("modles").message, HasSubstr("modules"));
  EXPECT_THAT(error("op:6").message, HasSubstr("op:1 to op:5"));
}

TEST_F(Selecting, IllegalOnesSayWhy) {
  const Error illegal = error("op:1");
  EXPECT_EQ(illegal.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(illegal.message, HasSubstr("batch norm"));
}

TEST_F(Selecting, BadText) {
  EXPECT_EQ(error("").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error("percent:x").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error("percent:120").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error("percent:nan").code, ErrorCode::kInvalidArgument);
}

TEST(SelectSplitPoints, NothingToSelectIsAnError) {
  EXPECT_FALSE(select_split_points({}, "all"));
  EXPECT_FALSE(select_split_points({}, "percent:50"));
}

TEST_F(Selecting, SharesThatAreOneCutAreSaid) {
  EXPECT_THAT(cuts_named_twice(points_, "percent:61,percent:59,percent:90"),
              ElementsAre("percent:61 and percent:59 are one cut, after:features.0"));
  EXPECT_THAT(cuts_named_twice(points_, "percent:60,percent:90,all"), ElementsAre());
}

}  // namespace
}  // namespace pareto::model
