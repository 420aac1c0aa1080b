#include "client/planning/cost_model.h"

#include <gmock/gmock.h>

#include "client/planning/planner.h"

namespace pareto::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

transport::ProbePoint probed(std::int64_t crossing, std::int64_t interval, std::int64_t send,
                             std::int64_t receive) {
  return {100, Nanoseconds(crossing), Nanoseconds(interval), Nanoseconds(send),
          Nanoseconds(receive)};
}

/// A message's times add up to its crossing, whatever was measured.
TEST(LinkPoint, AddsUp) {
  for (const auto& point : {probed(100, 20, 5, 7), probed(100, 200, 5, 7), probed(100, 20, 80, 40),
                            probed(0, 20, 5, 7), probed(100, 0, 0, 0)}) {
    const partitioner::LinkTimes times = link_point(point).times;
    EXPECT_EQ(times.occupancy + times.delay + times.send + times.receive, point.crossing);
    for (const Nanoseconds time : {times.occupancy, times.delay, times.send, times.receive}) {
      EXPECT_GE(time.count(), 0);
    }
  }
}

TEST(LinkPoint, IsBusyForAsLongAsTheNextOneWaits) {
  const partitioner::LinkTimes slow = link_point(probed(100, 20, 5, 7)).times;
  EXPECT_EQ(slow.occupancy.count(), 20);
  EXPECT_EQ(slow.delay.count(), 68);
  const partitioner::LinkTimes local = link_point(probed(100, 200, 30, 60)).times;
  EXPECT_EQ(local.occupancy.count(), 10) << "the processors are what holds it up";
}

TEST(ProbeSizes, GoFromTheSmallestToTheLargest) {
  EXPECT_THAT(probe_sizes(4000, 4000), ElementsAre(4000));
  EXPECT_THAT(probe_sizes(4000, 100'000), ElementsAre(4000, 16000, 64000, 100'000));
  EXPECT_THAT(probe_sizes(0, 10), ElementsAre(1024));
  EXPECT_EQ(probe_sizes(1 << 20, std::uint64_t{1} << 40).back(), transport::kLargestPingBytes);
}

std::vector<partitioner::SplitPoint> points_of(const std::vector<double>& flops) {
  std::vector<partitioner::SplitPoint> points;
  for (const double before : flops) points.emplace_back().flops_before = before;
  return points;
}

TEST(SpreadByWork, TakesBothEndsAndEqualShares) {
  const auto points = points_of({0, 1, 2, 3, 4, 5, 50, 100});
  EXPECT_THAT(spread_by_work(points, {0, 1, 2, 3, 4, 5, 6, 7}, 3), ElementsAre(0, 6, 7));
  EXPECT_THAT(spread_by_work(points, {1, 2, 3, 7}, 2), ElementsAre(1, 7));
  EXPECT_THAT(spread_by_work(points, {1, 2, 3}, 0), ElementsAre(1, 2, 3));
  EXPECT_THAT(spread_by_work(points, {1, 2, 3}, 5), ElementsAre(1, 2, 3));
  EXPECT_THAT(spread_by_work(points, {1, 2, 3}, 1), ElementsAre(2));
  EXPECT_THAT(spread_by_work(points, {}, 3), IsEmpty());
  EXPECT_THAT(spread_by_work(points_of({7, 7, 7}), {0, 1, 2}, 2), ElementsAre(0, 2));
}

}  // namespace
}  // namespace pareto::client
