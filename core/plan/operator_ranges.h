// Which operators of a model, where a plan runs them in another order than the model lists them: then a stage holds several ranges.
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

/// How many operators there are.
std::int64_t count_of(const OperatorRanges& ranges);
bool holds(const OperatorRanges& ranges, std::int64_t op);
/// Of operators in ascending order.
OperatorRanges ranges_of(const std::vector<std::int64_t>& operators);
std::vector<std::int64_t> operators_in(const OperatorRanges& ranges);
/// Of ranges in any order, which may touch or overlap.
OperatorRanges united(OperatorRanges ranges);
/// "[0, 41) [50, 60)".
std::string to_string(const OperatorRanges& ranges);

/// What a shard runs, and what has run before it: both decide what crosses its boundaries.
struct ShardOperators {
  OperatorRanges before;
  OperatorRanges own;

  /// Operators [begin, end) after all that come before them in the model.
  static ShardOperators between(std::int64_t begin, std::int64_t end);
  /// How many operators run before it, and up to its end: its place in the plan's order.
  std::int64_t begin() const { return count_of(before); }
  std::int64_t end() const { return begin() + count_of(own); }
  /// All that has run when it is done.
  OperatorRanges with_own() const;
  auto operator<=>(const ShardOperators&) const = default;
};

}  // namespace pareto::plan
