#include "partitioner/planning/inputs/profiled_parts.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/coordinator/support/small_model.h"

namespace pareto::planning {
namespace {

using std::chrono::milliseconds;
using testing::SizeIs;

/// Five operators, of 1 to 5 ms in the plain engine, cut behind the second one and behind the
/// fourth; no room for the last segment's 30 bytes.
class Segments : public testing::Test {
 protected:
  Segments() {
    for (int ms = 1; ms <= 5; ++ms) profile_.operators.emplace_back(milliseconds(ms));
    inputs_.boundary_bytes = {100, 200, 300, 400};
    DeviceCosts& costs = inputs_.devices.emplace_back();
    costs.compute = {milliseconds(0), milliseconds(2), milliseconds(6), milliseconds(9)};
    costs.overhead = milliseconds(1);
    costs.enter = {milliseconds(0), milliseconds(3), milliseconds(0), milliseconds(0)};
    costs.weight_bytes = {0, 10, 20, 50};
    costs.memory_limit_bytes = 29;
  }
  std::vector<ProfiledSegment> segments() const {
    return profiled_segments(profile_, {0, 2, 4, 5}, inputs_, 0);
  }

  plan::DeviceProfile profile_;
  CostInputs inputs_;
};

TEST_F(Segments, AreStagesBetweenNeighbouringCuts) {
  inputs_.devices[0].busy =
      StageCosts{{milliseconds(0), milliseconds(1), milliseconds(3), milliseconds(4)}};
  const auto all = segments();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].alone, milliseconds(3));
  EXPECT_EQ(all[0].busy, milliseconds(1));
  const ProfiledSegment& middle = all[1];
  EXPECT_EQ(middle.begin, 2);
  EXPECT_EQ(middle.end, 4);
  EXPECT_EQ(middle.alone, milliseconds(8)) << "4 of its own, 3 to enter, and 1 of a stage";
  EXPECT_EQ(middle.busy, milliseconds(2));
  EXPECT_EQ(middle.plain, milliseconds(7));
  EXPECT_EQ(middle.memory_bytes, 10);
  EXPECT_EQ(middle.output_bytes, 300);
}

TEST_F(Segments, HaveNoTimesWhereThereIsNoRoom) {
  const ProfiledSegment last = segments().back();
  EXPECT_EQ(last.alone, std::nullopt);
  EXPECT_EQ(last.busy, std::nullopt);
  EXPECT_EQ(last.plain, milliseconds(5)) << "measured one by one, or as the others";
  EXPECT_EQ(last.memory_bytes, 30);
  EXPECT_EQ(last.output_bytes, 400);
}

TEST(Operators, HaveWeightsOnceAndOutputsForEachSample) {
  const model::Model model = test::small_model();
  const auto one = profiled_operators(model.graph(), 1);
  const auto two = profiled_operators(model.graph(), 2);
  ASSERT_TRUE(one);
  ASSERT_TRUE(two);
  ASSERT_EQ(one->size(), model.graph().operators.size());
  const auto convolution =
      std::ranges::find(*one, std::string("aten::conv2d"), &ProfiledOperator::kind);
  ASSERT_NE(convolution, one->end());
  EXPECT_EQ(convolution->scope, "features.0");
  EXPECT_EQ(convolution->weight_bytes, (96U * 3 * 7 * 7 + 96) * 4);
  EXPECT_EQ(convolution->output_bytes, 96U * 29 * 29 * 4) << "7x7 at every other pixel of 64x64";
  EXPECT_EQ((*two)[static_cast<std::size_t>(convolution - one->begin())].output_bytes,
            2 * convolution->output_bytes);
}

}  // namespace
}  // namespace pareto::planning
