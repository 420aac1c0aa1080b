// Whole models that take requests in turns next to pipelines.
#pragma once

#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/search/point_front.h"
#include "partitioner/planning/search/search_strategy.h"

namespace pareto::search {

/// Adds good placements of two or more devices that run the whole model in turns, unless `options`
/// leave replicas out. Each device may use any of the codecs of its two links. Placements go to
/// `witnesses`.
/// Fails: kExhausted (more than 2^12 choices of as many devices of which none is as good as
/// another).
Expected<> add_replicas(const planning::CostInputs& inputs, const SearchOptions& options,
                        PointFront& front, std::vector<planning::Placement>& witnesses);

}  // namespace pareto::search
