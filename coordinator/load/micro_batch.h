// Cuts a batch into smaller ones, so that one stage computes the first while another still computes
// the second. One large request then has the latency of a pipeline of small ones.
//
//   request of 8 --split--> 3, 3, 2 ══▶ stages ══▶ results of 3, 3, 2 --join--> result of 8
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/tensor/value.h"

namespace pareto::load {

/// Returns the sizes that a plan's batch falls into: all the same, but the last may be smaller;
/// none where the batch travels whole.
std::vector<std::int64_t> micro_batch_sizes(const plan::Plan& plan);

/// Returns the tensors of a request cut along their first dimension, which is the batch; they share
/// its bytes. Values that are no tensors go with each part. Fails: kInvalidArgument (a tensor whose
/// first dimension is not the sum of the sizes: which).
Expected<std::vector<Value>> split_batch(const Value& request,
                                         const std::vector<std::int64_t>& sizes);

/// Returns the results put together along their tensors' first dimension; what does not carry the
/// batch there must be the same in all of them. Fails: kInvalidArgument (it is not, or the results
/// have different structures: such a model cannot run in micro-batches).
Expected<Value> join_batch(const std::vector<Value>& results,
                           const std::vector<std::int64_t>& sizes);

}  // namespace pareto::load
