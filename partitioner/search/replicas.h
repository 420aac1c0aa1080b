// Whole models that take requests in turns beside pipelines: what is to be had by them alone. For those who can run pipelines only, and
// want to know what they miss.
#pragma once

#include <vector>

#include "core/base/error.h"
#include "partitioner/search/search_strategy.h"

namespace pareto::partitioner {

/// `front`: of the same inputs and options, without replicas. The points of replicas that none of it is as good as, in a front's order.
/// Some of them may beat points of `front`. Fails: as a search does.
Expected<std::vector<FrontPoint>> replicas_beyond(const std::vector<FrontPoint>& front,
                                                  const CostInputs& inputs, SearchOptions options);

}  // namespace pareto::partitioner
