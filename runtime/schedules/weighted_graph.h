// The operators of a shard as a weighted graph: what schedules are made from. Free of LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::schedules {

/// One operator.
struct WeightedNode {
  std::string kind;                  ///< "aten::conv2d"
  std::string scope{};               ///< module path, "features.0.conv"; empty: not known
  double cost = 1;                   ///< time on one thread, in any one unit; at least 0
  double cost_all = 0;               ///< time with all threads of the shard; 0: not measured
  std::vector<std::size_t> after{};  ///< operators that it waits for, ascending, all before itself
  std::uint64_t output_bytes = 0;    ///< bytes of what it makes, at the measured batch

  /// Returns the time with all threads, or that on one if it was not measured.
  double shared_cost() const { return cost_all > 0 ? cost_all : cost; }
};

/// Operators in a topological order: each waits only for operators before it.
struct WeightedGraph {
  std::vector<WeightedNode> nodes{};
};

/// Returns of each operator those that wait for it, ascending.
std::vector<std::vector<std::size_t>> users_of(const WeightedGraph& graph);

/// Returns 'operator 12 (aten::conv2d, features.3)', for errors.
std::string operator_name(const WeightedGraph& graph, std::size_t number);

/// Checks that operators wait only for operators before them, and have costs of at least 0.
/// Fails: kInvalidArgument naming the operator.
Expected<> check(const WeightedGraph& graph);

}  // namespace pareto::schedules
