// Batches as a pipeline takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/data/data_set.h"
#include "coordinator/train/training_pipeline.h"
#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::train {

/// Returns samples [begin, begin + count) of a tensor whose first dimension is the batch. They lie
/// in its memory if they begin at an aligned place, else in a copy. Fails: kInvalidArgument (a
/// scalar, or samples that are not there), kExhausted.
Expected<Tensor> rows_of(const Tensor& tensor, std::int64_t begin, std::int64_t count);

/// Parts a batch into micro-batches of micro_batch_sizes(). Fails: kInvalidArgument (an input that
/// is no tensor, or one of fewer samples than labels).
Expected<std::vector<MicroBatch>> micro_batches(const data::Batch& batch, std::int64_t parts);

}  // namespace pareto::train
