// Every search strategy there is; builtin_searches.cc lists them.
#pragma once

#include "partitioner/planning/search/search_strategy.h"

namespace pareto::search {

/// Returns the exact search: by thresholds if two objectives are asked for and no plan passes a
/// shared channel twice, else by labels.
const SearchStrategy* exact_search();
/// Returns the search by a label-setting dynamic program, for any criteria.
const SearchStrategy* label_search();
/// Returns the search that tries one placement after the other: for small instances, and to check
/// the others by.
const SearchStrategy* exhaustive_search();

}  // namespace pareto::search
