#include "coordinator/sweep/pass_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace pareto::sweep {
namespace {

using testing::ElementsAreArray;
using testing::UnorderedElementsAreArray;

/// Two conditions that take turns in the run, 20 trials of each.
class PassOrderTest : public testing::Test {
 protected:
  PassOrderTest() : trials_(40) {
    for (std::size_t i = 0; i < trials_.size(); ++i) trials_[i].condition = i % 2 ? "lte" : "wifi";
    pass_.trials.resize(trials_.size());
    std::iota(pass_.trials.begin(), pass_.trials.end(), std::size_t{0});
  }

  /// The numbers of trials that follow each other under one condition.
  std::vector<std::size_t> stretches(const std::vector<std::size_t>& order) const {
    std::vector<std::size_t> lengths;
    std::string last;
    for (const std::size_t place : order) {
      if (trials_[place].condition != last) lengths.push_back(0);
      ++lengths.back();
      last = trials_[place].condition;
    }
    return lengths;
  }

  std::vector<results::TrialRecord> trials_;
  Pass pass_;
};

TEST_F(PassOrderTest, HasEachTrialOnceAndChangesTheNetworkOnce) {
  const auto order = order_of(pass_, trials_, 5, false);
  EXPECT_THAT(order, UnorderedElementsAreArray(pass_.trials));
  EXPECT_THAT(stretches(order), ElementsAreArray({20, 20}));
}

TEST_F(PassOrderTest, GivesConditionsTurnsUnderABudget) {
  const auto order = order_of(pass_, trials_, 5, true);
  EXPECT_THAT(order, UnorderedElementsAreArray(pass_.trials));
  EXPECT_THAT(stretches(order), ElementsAreArray({8, 8, 8, 8, 4, 4}));
}

TEST_F(PassOrderTest, IsRepeatedByTheSeedAndDiffersByRound) {
  const auto order = order_of(pass_, trials_, 5, false);
  EXPECT_EQ(order_of(pass_, trials_, 5, false), order);
  EXPECT_NE(order_of(pass_, trials_, 6, false), order);
  pass_.round = 1;
  EXPECT_NE(order_of(pass_, trials_, 5, false), order);
}

TEST_F(PassOrderTest, BeginsWithEitherCondition) {
  std::set<std::string> first;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    first.insert(trials_[order_of(pass_, trials_, seed, false).front()].condition);
  }
  EXPECT_EQ(first.size(), 2U);
}

TEST_F(PassOrderTest, ATrialOfManyMayBeAlone) {
  pass_.trials = {7};
  EXPECT_THAT(order_of(pass_, trials_, 5, true), ElementsAreArray({7}));
  pass_.trials.clear();
  EXPECT_TRUE(order_of(pass_, trials_, 5, false).empty());
}

}  // namespace
}  // namespace pareto::sweep
