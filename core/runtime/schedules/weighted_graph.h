// The operators of a shard as a weighted graph: what schedules are made from. Free of LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pareto::schedules {

/// One operator.
struct WeightedNode {
  std::string kind;                  ///< "aten::conv2d"
  std::string scope{};               ///< module path, "features.0.conv"; empty: not known
  double cost = 1;                   ///< time on one thread, in any one unit; at least 0
  double cost_all = 0;               ///< time with all threads of the shard; 0: not measured
  std::vector<std::size_t> after{};  ///< operators that it waits for, ascending, all before itself
  std::uint64_t output_bytes = 0;    ///< bytes of what it makes, at the measured batch
};

/// Operators in a topological order: each waits only for operators before it.
struct WeightedGraph {
  std::vector<WeightedNode> nodes{};
};

}  // namespace pareto::schedules
