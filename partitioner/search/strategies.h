// Every search strategy there is; builtin_searches.cc lists them.
#pragma once

#include "partitioner/search/search_strategy.h"

namespace pareto::partitioner {

/// By thresholds; of two objectives, without shared media.
const SearchStrategy* exact_search();
/// One placement after the other: for small instances, and to check the others by.
const SearchStrategy* exhaustive_search();

}  // namespace pareto::partitioner
