// Plan + model -> shards.
#pragma once

#include <cstdint>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "partitioner/graph/model.h"

namespace pareto::partitioner {

/// Operators [begin, end) of the model as a shard, 0 <= begin < end <= operators; [0, operators) is the whole model.
/// Fails: kInvalidArgument (range, an illegal split point), kInternal.
Expected<Shard> emit_shard(const Model& model, std::int64_t begin, std::int64_t end);

}  // namespace pareto::partitioner
