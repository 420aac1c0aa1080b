// Plan + model -> shards.
#pragma once

#include <cstdint>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "partitioner/graph/model.h"

namespace pareto::partitioner {

/// Operators [begin, end) of the model as a shard, 0 <= begin < end <= operators; [0, operators) is the whole model.
///
/// The graph of "run" is: GetAttr of weights and constants anywhere; `prologue` operators (an int attribute of the module) that
/// make inputs what they were; the operators [begin, end) in order; those that lay out the outputs; the tuple that is returned.
///
/// Weights with equal bytes have one digest, whatever their shapes: who fills them takes dtype and shape from the WeightRef.
/// Fails: kInvalidArgument (range, an illegal split point), kInternal.
Expected<Shard> emit_shard(const Model& model, std::int64_t begin, std::int64_t end);

}  // namespace pareto::partitioner
