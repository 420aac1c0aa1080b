// Whether two fronts are the same, and whether one is what it claims to be.
#pragma once

#include <string>
#include <vector>

#include "partitioner/search/search_strategy.h"

namespace pareto::test {

/// "" if the points are the same in their order; placements may differ.
std::string difference(const std::vector<partitioner::FrontPoint>& a,
                       const std::vector<partitioner::FrontPoint>& b);

/// "" if the front is sorted, no point beats another, and every placement evaluates to its point within its window's range.
std::string flaw(const std::vector<partitioner::FrontPoint>& front,
                 const partitioner::CostInputs& inputs, const partitioner::SearchOptions& options);

}  // namespace pareto::test
