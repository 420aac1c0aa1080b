#include "partitioner/planning/inputs/condition_links.h"

#include <gmock/gmock.h>

namespace pareto::planning {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;

/// Returns two devices and the coordinator; messages of 1 kB and 1448 kB on every link.
ProbedLinks probed() {
  transport::ProbeResult link;
  link.round_trip = microseconds(100);
  link.points = {{1'000, microseconds(50), microseconds(20), {}, {}},
                 {1'448'000, milliseconds(2), milliseconds(1), {}, {}}};
  ProbedLinks links(3, std::vector<transport::ProbeResult>(3, link));
  for (std::size_t i = 0; i < 3; ++i) links[i][i] = {};
  return links;
}

/// 12 Mbit/s take 8 ms for a packet's thousandfold, 1 s for a thousand of them.
plan::Condition slow_there_far_back() {
  plan::Condition condition;
  condition.forward.bits_per_second = 12'000'000;
  condition.forward.delay = milliseconds(10);
  condition.backward.delay = milliseconds(30);
  return condition;
}

TEST(UnderCondition, DelaysAndRatesAreAddedToWhatWasProbed) {
  const auto links = under_condition(probed(), slow_there_far_back());
  ASSERT_TRUE(links);
  const transport::ProbeResult& forward = (*links)[0][1];
  EXPECT_EQ(forward.round_trip, microseconds(40'100));
  // 4 KiB of packets find room in the bucket, 2.73 ms of the rate.
  const Nanoseconds at_once(4096 * 8 * 1000 / 12 + 1);
  EXPECT_EQ(forward.points[0].bytes, 0U) << "smaller ones are sooner over";
  EXPECT_EQ(forward.points[0].interval, microseconds(20));
  EXPECT_EQ(forward.points[1].crossing, milliseconds(10) + microseconds(50));
  EXPECT_EQ(forward.points[2].crossing,
            milliseconds(10) + milliseconds(1000) - at_once + microseconds(50));
  EXPECT_EQ(forward.points[2].interval, milliseconds(1000));
  const transport::ProbeResult& backward = (*links)[1][0];
  EXPECT_EQ(backward.round_trip, microseconds(40'100));
  EXPECT_EQ(backward.points[1].crossing, milliseconds(32)) << "no rate: as probed, and the delay";
  EXPECT_EQ(backward.points[1].interval, milliseconds(1));
}

TEST(UnderCondition, TheCoordinatorIsBesideTheFirstDevice) {
  const auto links = under_condition(probed(), slow_there_far_back());
  ASSERT_TRUE(links);
  EXPECT_EQ((*links)[2][0].round_trip, microseconds(100));
  EXPECT_EQ((*links)[0][2].points[1].crossing, milliseconds(2));
  EXPECT_EQ((*links)[2][1].points[2].crossing, (*links)[0][1].points[2].crossing);
  EXPECT_EQ((*links)[1][2].points[1].crossing, (*links)[1][0].points[1].crossing);
  EXPECT_TRUE((*links)[1][1].points.empty());
}

TEST(UnderCondition, NothingIsSaidOfConditionsThatChange) {
  plan::Condition condition;
  condition.backward.trace = {{milliseconds(1), milliseconds(5), std::nullopt}};
  const auto links = under_condition(probed(), condition);
  ASSERT_FALSE(links);
  EXPECT_EQ(links.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(links.error().message, HasSubstr("changes over time"));
}

TEST(UnderCondition, LossIsMoreThanDelaysAndRates) {
  plan::Condition condition = slow_there_far_back();
  EXPECT_TRUE(is_predictable(condition));
  condition.backward.loss = 0.01;
  EXPECT_FALSE(is_predictable(condition));
}

}  // namespace
}  // namespace pareto::planning
