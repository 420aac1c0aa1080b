#include "coordinator/train/batch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace pareto::train {
namespace {

using testing::ElementsAre;

BatchOrder order_of(std::int64_t samples, const BatchOptions& options) {
  auto order = BatchOrder::create(samples, options);
  EXPECT_TRUE(order);
  return *std::move(order);
}

std::vector<std::int64_t> epoch_of(BatchOrder& order, std::int64_t epoch) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < order.steps_per_epoch(); ++i) {
    const auto batch = order.batch(epoch, i);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

TEST(BatchOrder, WithoutShufflingIsTheSamplesOwn) {
  BatchOrder order = order_of(7, {.batch = 3, .shuffle = false});
  EXPECT_EQ(order.steps_per_epoch(), 3);
  EXPECT_THAT(order.batch(0, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(order.batch(4, 2), ElementsAre(6));
}

TEST(BatchOrder, LeavesOutTheSmallerBatchIfAsked) {
  BatchOrder order = order_of(7, {.batch = 3, .shuffle = false, .drop_smaller = true});
  EXPECT_EQ(order.steps_per_epoch(), 2);
  EXPECT_THAT(order.batch(0, 1), ElementsAre(3, 4, 5));
  EXPECT_EQ(order_of(6, {.batch = 3, .drop_smaller = true}).steps_per_epoch(), 2);
}

TEST(BatchOrder, EachEpochHasEverySampleOnce) {
  BatchOrder order = order_of(101, {.batch = 8, .seed = 3});
  std::vector<std::int64_t> all(101);
  std::iota(all.begin(), all.end(), 0);
  for (const std::int64_t epoch : {0, 1, 7}) {
    auto shuffled = epoch_of(order, epoch);
    EXPECT_NE(shuffled, all);
    std::ranges::sort(shuffled);
    EXPECT_EQ(shuffled, all);
  }
}

TEST(BatchOrder, FollowsFromSeedAndEpoch) {
  BatchOrder one = order_of(50, {.batch = 8, .seed = 3});
  BatchOrder same = order_of(50, {.batch = 8, .seed = 3});
  BatchOrder other = order_of(50, {.batch = 8, .seed = 4});
  // Asked for in another order.
  const auto later = epoch_of(same, 2);
  EXPECT_EQ(epoch_of(one, 0), epoch_of(same, 0));
  EXPECT_EQ(epoch_of(one, 2), later);
  EXPECT_NE(epoch_of(one, 0), epoch_of(one, 1));
  EXPECT_NE(epoch_of(one, 0), epoch_of(other, 0));
}

// A training that goes on on another machine has to meet the same samples.
TEST(BatchOrder, IsTheSameOnEveryMachine) {
  BatchOrder order = order_of(10, {.batch = 10, .seed = 1});
  EXPECT_THAT(order.batch(0, 0), ElementsAre(4, 0, 1, 8, 5, 7, 9, 3, 2, 6));
}

// Every sample comes about as often at every place.
TEST(BatchOrder, PrefersNoPlace) {
  constexpr std::int64_t kSamples = 10;
  BatchOrder order = order_of(kSamples, {.batch = 1, .seed = 5});
  std::vector<int> first(kSamples);
  for (std::int64_t epoch = 0; epoch < 5000; ++epoch)
    ++first[static_cast<std::size_t>(order.batch(epoch, 0).front())];
  for (const int count : first) EXPECT_NEAR(count, 500, 120);
}

TEST(BatchOrder, RefusesWhatGivesNoBatch) {
  EXPECT_FALSE(BatchOrder::create(0, {}));
  EXPECT_FALSE(BatchOrder::create(5, {.batch = 0}));
  EXPECT_FALSE(BatchOrder::create(5, {.batch = 6, .drop_smaller = true}));
  EXPECT_TRUE(BatchOrder::create(5, {.batch = 6}));
}

TEST(MicroBatchSizes, AreAsEqualAsPossible) {
  EXPECT_THAT(micro_batch_sizes(8, 4), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(micro_batch_sizes(10, 4), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(micro_batch_sizes(3, 4), ElementsAre(1, 1, 1));
  EXPECT_THAT(micro_batch_sizes(5, 1), ElementsAre(5));
}

}  // namespace
}  // namespace pareto::train
