// Compares two fronts, and checks that a front is what it claims to be.
#pragma once

#include <string>
#include <vector>

#include "partitioner/planning/search/search_strategy.h"

namespace pareto::test {

/// Returns "" if the points are the same in their order; placements may differ.
std::string difference(const std::vector<search::FrontPoint>& a,
                       const std::vector<search::FrontPoint>& b);

/// Returns "" if the front is sorted, no point beats another, and every placement evaluates to its
/// point within its window's range.
std::string flaw(const std::vector<search::FrontPoint>& front, const planning::CostInputs& inputs,
                 const search::SearchOptions& options);

}  // namespace pareto::test
