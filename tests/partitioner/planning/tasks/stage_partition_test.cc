#include "partitioner/planning/tasks/stage_partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

namespace pareto::tasks {
namespace {

using testing::ElementsAre;

/// Tries all cuts: the largest cost of costs[from …] in at most `stages` stages.
double least_largest(const std::vector<double>& costs, std::size_t from, std::size_t stages) {
  if (from == costs.size()) return 0;
  if (stages == 0) return std::numeric_limits<double>::infinity();
  double best = std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t end = from; end < costs.size(); ++end) {
    sum += costs[end];
    best = std::min(best, std::max(sum, least_largest(costs, end + 1, stages - 1)));
  }
  return best;
}

TEST(StagePartition, IsAsGoodAsTryingAllCuts) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> costs(1 + random() % 10);
    for (double& cost : costs) cost = static_cast<double>(random() % 8);  // zeros among them
    for (std::size_t stages = 1; stages <= 5; ++stages) {
      const StagePartition found = partition_stages(costs, stages);
      EXPECT_EQ(found.largest, least_largest(costs, 0, stages));
      ASSERT_FALSE(found.ends.empty());
      EXPECT_LE(found.ends.size(), stages);
      EXPECT_EQ(found.ends.back(), costs.size());
      double largest = 0;
      std::size_t begin = 0;
      for (const std::size_t end : found.ends) {
        ASSERT_GT(end, begin);
        largest = std::max(largest, std::accumulate(costs.begin() + static_cast<int>(begin),
                                                    costs.begin() + static_cast<int>(end), 0.0));
        begin = end;
      }
      EXPECT_EQ(largest, found.largest);
    }
  }
}

TEST(StagePartition, TakesNoStageThatGainsNothing) {
  EXPECT_THAT(partition_stages({10, 1, 1}, 3).ends, ElementsAre(1, 3));
  EXPECT_THAT(partition_stages({0, 0, 0}, 3).ends, ElementsAre(3));
  EXPECT_THAT(partition_stages({5}, 4).ends, ElementsAre(1));
}

}  // namespace
}  // namespace pareto::tasks
