// Sets of a model's operators, as ranges. A stage holds several ranges if its plan runs operators
// in another order than the model lists them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace pareto::plan {

/// Operators [begin, end) in the model's order.
struct OperatorRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  auto operator<=>(const OperatorRange&) const = default;
};

/// A set of operators: ascending, apart from each other, none empty. Equal sets are equal vectors.
using OperatorRanges = std::vector<OperatorRange>;

/// Returns how many operators there are.
std::int64_t count_of(const OperatorRanges& ranges);
bool holds(const OperatorRanges& ranges, std::int64_t op);
/// Returns the ranges of operators in ascending order.
OperatorRanges ranges_of(const std::vector<std::int64_t>& operators);
std::vector<std::int64_t> operators_in(const OperatorRanges& ranges);
/// Returns the union of ranges in any order, which may touch or overlap.
OperatorRanges united(OperatorRanges ranges);
/// Returns "[0, 41) [50, 60)".
std::string to_string(const OperatorRanges& ranges);

/// The operators that a shard runs, and those that have run before it: both decide what crosses its
/// boundaries.
struct ShardOperators {
  OperatorRanges before;
  OperatorRanges own;

  /// Returns operators [begin, end) after all that come before them in the model.
  static ShardOperators between(std::int64_t begin, std::int64_t end);
  /// Return how many operators run before it, and up to its end: its place in the plan's order.
  std::int64_t begin() const { return count_of(before); }
  std::int64_t end() const { return begin() + count_of(own); }
  /// Returns all that has run when it is done.
  OperatorRanges with_own() const;
  auto operator<=>(const ShardOperators&) const = default;
};

}  // namespace pareto::plan
