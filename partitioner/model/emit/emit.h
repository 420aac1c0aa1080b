// Plan + model -> shards.
#pragma once

#include <cstdint>

#include "core/base/error.h"
#include "core/plan/operator_ranges.h"
#include "core/plan/shard.h"
#include "partitioner/model/graph/model.h"

namespace pareto::model {

/// Returns the given operators of the model as a shard. The graph of "run" consists of:
/// - GetAttr of weights and constants, anywhere;
/// - `prologue` operators (an int attribute of the module) that restore the layout of inputs;
/// - the operators, in the model's order;
/// - operators that lay out the outputs;
/// - the tuple that is returned.
///
/// Weights with equal bytes have one digest, whatever their shapes. Code that fills them takes
/// dtype and shape from the WeightRef.
/// Fails: kInvalidArgument (ranges, a cut that is not allowed), kInternal.
Expected<plan::Shard> emit_shard(const Model& model, const plan::ShardOperators& operators);
/// Emits operators [begin, end), 0 <= begin < end <= operators; [0, operators) is the whole model.
Expected<plan::Shard> emit_shard(const Model& model, std::int64_t begin, std::int64_t end);

}  // namespace pareto::model
