#include "partitioner/planning/cost/device_costs.h"

#include <gmock/gmock.h>

#include <tuple>

#include "partitioner/planning/cost/evaluate.h"

namespace pareto::planning {
namespace {

using testing::ElementsAre;

/// A busy stage takes half as long.
plan::ShardTime shard(std::int64_t begin, std::int64_t end, std::int64_t alone) {
  return {begin, end, Nanoseconds(alone), Nanoseconds(alone / 2), 0};
}

/// Returns four operators of 10, 20, 30 and 40 ns in the plain engine, 50 ns together in a better
/// one.
plan::DeviceProfile profile() {
  plan::DeviceProfile profile;
  profile.device = "pi-1";
  profile.model = "tiny";
  profile.operators = {Nanoseconds(10), Nanoseconds(20), Nanoseconds(30), Nanoseconds(40)};
  profile.overhead = Nanoseconds(3);
  profile.shards = {shard(0, 4, 50)};
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
  plan::DeviceProfile measured = profile();
  measured.shards = {shard(0, 2, 18), shard(0, 4, 50), shard(2, 4, 38)};
  const auto costs = device_costs(measured, {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->time(0, 2).count(), 3 + 18);
  EXPECT_EQ(costs->time(2, 4).count(), 3 + 38);
  EXPECT_EQ(costs->time(0, 4).count(), 3 + 50);
  // A third of the first half's plain time, three sevenths of the second's.
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 6, 18, 32, 50));
  EXPECT_THAT(counts(costs->enter), ElementsAre(0, 6, 6, 6, 0));
}

TEST(DeviceCosts, OfBusyDevicesAreTheirOwn) {
  plan::DeviceProfile measured = profile();
  measured.shards = {shard(0, 2, 18), shard(0, 4, 50), shard(2, 4, 38)};
  const auto costs = device_costs(measured, {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  const StageCosts& busy = costs->when_busy();
  EXPECT_EQ(busy.time(0, 2).count(), 9) << "overhead is of lone requests";
  EXPECT_EQ(busy.time(2, 4).count(), 19);
  EXPECT_EQ(busy.time(0, 4).count(), 25);
}

TEST(DeviceCosts, TwoSidesMayTakeLessThanTheWhole) {
  plan::DeviceProfile cached = profile();
  cached.shards = {shard(0, 2, 18), shard(0, 4, 50), shard(2, 4, 22)};
  const auto costs = device_costs(cached, {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->time(0, 2).count(), 3 + 18);
  EXPECT_EQ(costs->time(2, 4).count(), 3 + 22);
  EXPECT_EQ(costs->time(0, 4).count(), 3 + 50);
}

TEST(DeviceCosts, KeepTheJitterOfTheDevice) {
  plan::DeviceProfile measured = profile();
  EXPECT_THAT(device_costs(measured, {0, 4})->jitter, ElementsAre());
  measured.jitter = {1, 0.5, 2};
  EXPECT_THAT(device_costs(measured, {0, 4})->jitter, ElementsAre(1, 0.5, 2));
}

TEST(DeviceCosts, OnlySomePositions) {
  plan::DeviceProfile measured = profile();
  measured.shards = {shard(0, 2, 18), shard(0, 4, 50), shard(2, 4, 38)};
  const auto costs = device_costs(measured, {0, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 32, 50));
}

TEST(DeviceCosts, NoiseMakesNoLongerPrefixFaster) {
  plan::DeviceProfile noisy = profile();
  noisy.shards = {shard(0, 1, 20), shard(0, 2, 16), shard(0, 4, 50), shard(1, 4, 30),
                  shard(2, 4, 30)};
  const auto costs = device_costs(noisy, {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  // The whole of which these are parts is the least sum of two sides, 16 + 30.
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 18, 18, 30, 46));
  EXPECT_THAT(counts(costs->enter), ElementsAre(0, 2, 2, 2, 0));
}

TEST(DeviceCosts, OneDisturbedTimeDoesNotMoveItsNeighbours) {
  plan::DeviceProfile disturbed = profile();
  disturbed.shards = {shard(0, 1, 90), shard(0, 2, 20), shard(0, 3, 30), shard(0, 4, 50),
                      shard(1, 4, 42), shard(2, 4, 90), shard(3, 4, 22)};
  const auto costs = device_costs(disturbed, {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->time(0, 3).count(), 3 + 30);
  EXPECT_EQ(costs->time(0, 1).count(), 3 + 30) << "no more than what is longer";
  EXPECT_EQ(costs->time(1, 4).count(), 3 + 66) << "with the one after it, which takes no longer";
  EXPECT_EQ(costs->time(3, 4).count(), 3 + 22);
}

plan::DeviceProfile profile_of(const std::vector<plan::ShardTime>& shards) {
  plan::DeviceProfile measured = profile();
  measured.shards = shards;
  return measured;
}

TEST(DeviceCosts, WithoutRoomForTheWholeTwoSidesAddUpToIt) {
  const auto costs =
      device_costs(profile_of({shard(0, 1, 5), shard(0, 2, 18), shard(2, 4, 44), shard(3, 4, 30)}),
                   {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_FALSE(costs->whole);
  EXPECT_FALSE(costs->when_busy().whole);
  for (const auto& [begin, end, time] :
       {std::tuple(0, 1, 5), std::tuple(0, 2, 18), std::tuple(2, 4, 44), std::tuple(3, 4, 30)}) {
    EXPECT_EQ(costs->time(begin, end).count(), 3 + time);
    EXPECT_EQ(costs->when_busy().time(begin, end).count(), time / 2);
  }
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 5, 18, 32, 62));
}

TEST(DeviceCosts, ASideThatIsNotKnownIsEnteredAsItsNeighbours) {
  const auto costs = device_costs(profile_of({shard(0, 1, 5), shard(0, 2, 18), shard(0, 4, 50),
                                              shard(2, 4, 38), shard(3, 4, 24)}),
                                  {0, 1, 2, 3, 4});
  ASSERT_TRUE(costs);
  EXPECT_THAT(counts(costs->compute), ElementsAre(0, 5, 18, 32, 50));
  EXPECT_THAT(counts(costs->enter), ElementsAre(0, 6, 6, 6, 0));
  EXPECT_EQ(costs->time(3, 4).count(), 3 + 24);
}

TEST(DeviceCosts, OfOneSideOfEachCutAllIsInProportionToOperators) {
  // Operators of 30 and 40 ns in the plain engine take half as long.
  const auto both = device_costs(profile_of({shard(0, 2, 15), shard(3, 4, 20)}), {0, 1, 2, 3, 4});
  const auto first = device_costs(profile_of({shard(0, 2, 15)}), {0, 1, 2, 3, 4});
  const auto last = device_costs(profile_of({shard(3, 4, 20)}), {0, 1, 2, 3, 4});
  for (const auto& costs : {both, first, last}) {
    ASSERT_TRUE(costs);
    EXPECT_FALSE(costs->whole);
    EXPECT_THAT(counts(costs->compute), ElementsAre(0, 5, 15, 30, 50));
    EXPECT_THAT(counts(costs->enter), ElementsAre(0, 0, 0, 0, 0));
  }
}

TEST(DeviceCosts, ASideMayTakeMoreThanAll) {
  const auto costs =
      device_costs(profile_of({shard(0, 2, 30), shard(1, 4, 80), shard(2, 4, 30)}), {0, 1, 2, 4});
  ASSERT_TRUE(costs);
  EXPECT_EQ(costs->time(1, 3).count(), 3 + 80);
  EXPECT_EQ(costs->time(0, 1).count(), 3) << "never less than nothing";
}

TEST(DeviceCosts, RefusesAProfileOfNeitherEnd) {
  EXPECT_FALSE(device_costs(profile_of({shard(1, 3, 30)}), {0, 1, 2, 3, 4}));
}

TEST(DeviceCosts, RefusesOtherPositions) {
  for (const std::vector<std::int64_t>& positions :
       {std::vector<std::int64_t>{0}, {1, 4}, {0, 3}, {0, 3, 3, 4}, {0, 5}}) {
    EXPECT_FALSE(device_costs(profile(), positions));
  }
}

}  // namespace
}  // namespace pareto::planning
