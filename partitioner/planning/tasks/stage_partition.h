// Cuts a chain of segments into stages, so that the costliest stage costs as little as it
// can.
#pragma once

#include <cstddef>
#include <vector>

namespace pareto::tasks {

struct StagePartition {
  std::vector<std::size_t> ends;  ///< one past the last segment of each stage; ascending
  double largest = 0;             ///< cost of the costliest stage
};

/// Cuts segments into at most `stages` stages, of one segment at least, by a dynamic program over
/// all cuts: exact. Of partitions that are equally good it takes the one of fewest stages.
/// costs: 0 or more, one at least; stages: 1 or more.
StagePartition partition_stages(const std::vector<double>& costs, std::size_t stages);

}  // namespace pareto::tasks
