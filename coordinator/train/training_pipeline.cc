#include "coordinator/train/training_pipeline.h"

#include "core/plan/training.h"

namespace pareto::train {

Expected<> check_batch(const std::vector<MicroBatch>& batch) {
  if (batch.empty() || batch.size() > plan::kMostMicroBatches) {
    return fail(ErrorCode::kInvalidArgument, "{} micro-batches in a step, not 1 to {}",
                batch.size(), plan::kMostMicroBatches);
  }
  for (const MicroBatch& part : batch) {
    if (part.samples < 1) return fail(ErrorCode::kInvalidArgument, "a micro-batch without samples");
  }
  return {};
}

}  // namespace pareto::train
