#include "partitioner/cost/device_costs.h"

#include <gmock/gmock.h>

#include "partitioner/cost/evaluate.h"

namespace pareto::partitioner {
namespace {

using testing::ElementsAre;

/// Four operators of 10, 20, 30 and 40 ns in the plain engine, 50 ns together in a better one.
DeviceProfile profile() {
  DeviceProfile profile;
  profile.device = "pi-1";
  profile.model = "tiny";
  profile.operators = {Nanoseconds(10), Nanoseconds(20), Nanoseconds(30), Nanoseconds(40)};
  profile.overhead = Nanoseconds(3);
  profile.shards = {{0, 4, Nanoseconds(50), 0}};
  return profile;
}

std::vector<std::int64_t> counts(const std::vector<Nanoseconds>& times) {
  std::vector<std::int64_t> counts;
  for (const Nanoseconds time : times) counts.push_back(time.count());
  return counts;
}

TEST(DeviceCosts, OfTheWholeModelFollowTheOperators) {
  const auto costs = device_costs(profile(), {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 5, 15, 30, 50));
  EXPECT_THAT(counts(costs->enter), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_EQ(costs->overhead.count(), 3);
  EXPECT_EQ(costs->name, "pi-1");
}

TEST(DeviceCosts, AreAsMeasuredWhereBothSidesAreKnown) {
  DeviceProfile measured = profile();
  measured.shards = {
      {0, 2, Nanoseconds(18), 0}, {0, 4, Nanoseconds(50), 0}, {2, 4, Nanoseconds(37), 0}};
  const auto costs = device_costs(measured, {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->stage_time(0, 2).count(), 3 + 18);
  EXPECT_EQ(costs->stage_time(2, 4).count(), 3 + 37);
  EXPECT_EQ(costs->stage_time(0, 4).count(), 3 + 50);
  // A third of the first half's plain time, three sevenths of the second's.
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 6, 18, 32, 50));
  EXPECT_THAT(counts(costs->enter), ElementsAre(0, 5, 5, 5, 0));
}

TEST(DeviceCosts, OnlySomePositions) {
  DeviceProfile measured = profile();
  measured.shards = {
      {0, 2, Nanoseconds(18), 0}, {0, 4, Nanoseconds(50), 0}, {2, 4, Nanoseconds(37), 0}};
  const auto costs = device_costs(measured, {0, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 32, 50));
}

TEST(DeviceCosts, NoiseMakesNoLongerPrefixFaster) {
  DeviceProfile noisy = profile();
  noisy.shards = {{0, 1, Nanoseconds(20), 0},
                  {0, 2, Nanoseconds(16), 0},
                  {0, 4, Nanoseconds(50), 0},
                  {1, 4, Nanoseconds(30), 0},
                  {2, 4, Nanoseconds(30), 0}};
  const auto costs = device_costs(noisy, {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 18, 18, 32, 50));
  EXPECT_THAT(counts(costs->enter), ElementsAre(0, 0, 0, 0, 0)) << "never less than nothing";
}

TEST(DeviceCosts, RefusesOtherPositions) {
  for (const std::vector<std::int64_t>& positions :
       {std::vector<std::int64_t>{0}, {1, 4}, {0, 3}, {0, 3, 3, 4}, {0, 5}}) {
    EXPECT_FALSE(device_costs(profile(), positions));
  }
}

}  // namespace
}  // namespace pareto::partitioner
