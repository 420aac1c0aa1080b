// Every search strategy there is; builtin_searches.cc lists them.
#pragma once

#include "partitioner/planning/search/search_strategy.h"

namespace pareto::planning {

/// By thresholds where two objectives are asked for and no plan passes a medium twice, else by labels.
const SearchStrategy* exact_search();
/// A label-setting dynamic program, for any criteria.
const SearchStrategy* label_search();
/// One placement after the other: for small instances, and to check the others by.
const SearchStrategy* exhaustive_search();

}  // namespace pareto::planning
