#include "partitioner/planning/tasks/stage_partition.h"

#include <algorithm>
#include <limits>

namespace pareto::tasks {

StagePartition partition_stages(const std::vector<double>& costs, std::size_t stages) {
  const std::size_t count = costs.size();
  std::vector<double> sums(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) sums[i + 1] = sums[i] + costs[i];
  stages = std::min(stages, count);
  // best[k][i]: the largest cost of the first i segments in k + 1 stages; begin[k][i]: where the
  // last of these stages begins.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector best(stages, std::vector<double>(count + 1, kNever));
  std::vector begin(stages, std::vector<std::size_t>(count + 1, 0));
  for (std::size_t i = 1; i <= count; ++i) best[0][i] = sums[i];
  for (std::size_t k = 1; k < stages; ++k) {
    for (std::size_t i = k + 1; i <= count; ++i) {
      for (std::size_t from = k; from < i; ++from) {
        const double largest = std::max(best[k - 1][from], sums[i] - sums[from]);
        if (largest >= best[k][i]) continue;
        best[k][i] = largest;
        begin[k][i] = from;
      }
    }
  }
  std::size_t chosen = 0;
  for (std::size_t k = 1; k < stages; ++k) {
    if (best[k][count] < best[chosen][count]) chosen = k;
  }
  StagePartition partition;
  partition.largest = best[chosen][count];
  std::size_t end = count;
  for (std::size_t k = chosen; end > 0; --k) {
    partition.ends.push_back(end);
    end = begin[k][end];
    if (k == 0) break;
  }
  std::ranges::reverse(partition.ends);
  return partition;
}

}  // namespace pareto::tasks
