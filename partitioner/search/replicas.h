// Whole models that take requests in turns beside pipelines.
#pragma once

#include <vector>

#include "core/base/error.h"
#include "partitioner/search/point_front.h"
#include "partitioner/search/search_strategy.h"

namespace pareto::partitioner {

/// Adds what is worth having of every choice of two or more devices that run the whole model in turns, each by any of the codecs of its two
/// links, unless `options` leave replicas out. Placements go to `witnesses`. Fails: kExhausted (more than 2^12 choices of as many devices of
/// which none is as good as another).
Expected<> add_replicas(const CostInputs& inputs, const SearchOptions& options, PointFront& front,
                        std::vector<Placement>& witnesses);

/// What is to be had by them alone, for those who can run pipelines only and want to know what they miss. `front`: of the same inputs and
/// options, without replicas. The points of replicas that none of it is as good as, in a front's order. Some of them may beat points of
/// `front`. Fails: as a search does.
Expected<std::vector<FrontPoint>> replicas_beyond(const std::vector<FrontPoint>& front,
                                                  const CostInputs& inputs, SearchOptions options);

}  // namespace pareto::partitioner
