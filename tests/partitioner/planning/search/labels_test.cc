// Which of many labels no other beats, against comparing all of them.
#include "partitioner/planning/search/labels.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace pareto::search {
namespace {

template <int D>
std::vector<Label<D>> random_labels(std::size_t count, std::int64_t largest,
                                    std::mt19937_64& random) {
  std::vector<Label<D>> labels(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::int64_t& cost : labels[i].costs) {
      cost = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(largest));
    }
    labels[i].parent = static_cast<std::int32_t>(i);
  }
  return labels;
}

template <int D>
bool as_good(const Label<D>& a, const Label<D>& b) {
  for (std::size_t d = 0; d < D; ++d) {
    if (a.costs[d] > b.costs[d]) return false;
  }
  return true;
}

/// One of each that no other is as good as and different from.
template <int D>
std::set<std::array<std::int64_t, D>> plain_best(const std::vector<Label<D>>& labels) {
  std::set<std::array<std::int64_t, D>> best;
  for (const Label<D>& label : labels) {
    const bool beaten = std::ranges::any_of(labels, [&](const Label<D>& other) {
      return other.costs != label.costs && as_good(other, label);
    });
    if (!beaten) best.insert(label.costs);
  }
  return best;
}

template <typename Criteria>
class Labels : public testing::Test {};
using Counts = testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>,
                              std::integral_constant<int, 4>, std::integral_constant<int, 5>,
                              std::integral_constant<int, 7>>;
TYPED_TEST_SUITE(Labels, Counts);

TYPED_TEST(Labels, ThoseKeptAreThoseThatNoneBeats) {
  constexpr int kCriteria = TypeParam::value;
  std::mt19937_64 random(81);
  for (int i = 0; i < 300; ++i) {
    // Few values make ties in every criterion, many make long fronts.
    const std::int64_t largest = i % 3 == 0 ? 3 : i % 3 == 1 ? 12 : 1'000'000;
    const auto all = random_labels<kCriteria>(random() % 60, largest, random);
    const auto expected = plain_best(all);
    auto kept = all;
    keep_best(kept);
    ASSERT_EQ(kept.size(), expected.size()) << i;
    for (std::size_t one = 0; one < kept.size(); ++one) {
      ASSERT_TRUE(expected.contains(kept[one].costs)) << i;
      // Whole labels: costs with the parent that they came with.
      ASSERT_EQ(kept[one].costs, all[static_cast<std::size_t>(kept[one].parent)].costs) << i;
      ASSERT_TRUE(one == 0 || kept[one - 1].costs < kept[one].costs) << i;
    }
  }
}

TYPED_TEST(Labels, AreTheSameWhenSortedOut) {
  constexpr int kCriteria = TypeParam::value;
  std::mt19937_64 random(82);
  auto labels = random_labels<kCriteria>(200, 50, random);
  keep_best(labels);
  auto again = labels;
  keep_best(again);
  ASSERT_EQ(again.size(), labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) EXPECT_EQ(again[i].costs, labels[i].costs);
}

TEST(Labels, OfManyCriteriaStopSoonAfterTheMost) {
  std::mt19937_64 random(83);
  // None beats another: the sum of all is the same.
  std::vector<Label<4>> labels(2000);
  for (Label<4>& label : labels) {
    label.costs = {static_cast<std::int64_t>(random() % 1000),
                   static_cast<std::int64_t>(random() % 1000),
                   static_cast<std::int64_t>(random() % 1000), 0};
    label.costs[3] = 3000 - label.costs[0] - label.costs[1] - label.costs[2];
  }
  auto few = labels;
  const std::int64_t compared = keep_best(few, 10'000);
  EXPECT_GT(compared, 10'000);
  EXPECT_LT(compared, 10'000 + 2000 + 2000);
  EXPECT_GT(keep_best(labels), 500'000) << "pairs, all of them";
}

TEST(Labels, OfNoneAndOfOneAreThose) {
  std::vector<Label<3>> none;
  EXPECT_EQ(keep_best(none), 0);
  std::vector<Label<3>> one(1);
  EXPECT_EQ(keep_best(one), 1);
  EXPECT_EQ(one.size(), 1U);
}

}  // namespace
}  // namespace pareto::search
