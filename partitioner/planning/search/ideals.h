// Cuts of a graph with branches. In one topological order a cut takes a prefix. Here it may take
// any *ideal*, a set that contains with each operator all that it depends on. Two branches may then
// run on different devices, in whatever order the model lists them.
//
//   DataFlow ──find_ideals──▶ Ideals: the positions of CostInputs
//
// A stage may lie between any two of them if one contains the other.
//
// Position 0 is the empty set, the last one all operators. Networks with branches have few ideals,
// for their branches are short and meet again: inception_v3 about 1,400.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.h"

namespace pareto::search {

/// A graph's values as far as cuts need them. Operators have numbers in a topological order; what
/// may not be cut apart is one operator.
struct DataFlow {
  struct Value {
    int producer = -1;         ///< -1: an input of the model
    std::vector<int> readers;  ///< behind the producer
    std::int64_t bytes = 0;
    bool is_output = false;
  };
  int operators = 0;
  std::vector<Value> values;
};

struct Ideals {
  std::vector<std::vector<bool>>
      sets;  ///< membership of each operator, for each position; smaller sets first
  std::vector<std::vector<int>> ends;  ///< ends; see CostInputs::ends
  std::vector<std::int64_t>
      boundary_bytes;  ///< bytes of the values that cross from each set to what is not in it

  /// Returns the sums over each set of a figure for each operator: what prefix sums are in a chain.
  template <typename T>
  std::vector<T> sums(const std::vector<T>& of_operators) const {
    std::vector<T> all;
    for (const auto& set : sets) {
      T sum{};
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (set[i]) sum += of_operators[i];
      }
      all.push_back(sum);
    }
    return all;
  }
};

/// Returns the sets alone, smaller ones first: membership of each operator. Fails: kInvalidArgument
/// (numbers out of range or order), kExhausted (more than `most` ideals).
Expected<std::vector<std::vector<bool>>> find_ideal_sets(const DataFlow& flow,
                                                         std::size_t most = 100'000);
/// Finds all ideals, and the stages between them. Fails: as find_ideal_sets(); kExhausted (more
/// than 500 `most` stages between them).
Expected<Ideals> find_ideals(const DataFlow& flow, std::size_t most = 100'000);
/// Returns the operators of a stage from one position to another, in their order.
std::vector<int> operators_between(const Ideals& ideals, int begin, int end);

}  // namespace pareto::search
