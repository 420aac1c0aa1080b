// A model that is trained in this process: its stages run one after the other, without a daemon.
#pragma once

#include <memory>
#include <vector>

#include "coordinator/train/training_pipeline.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/training.h"
#include "partitioner/model/graph/model.h"

namespace pareto::train {

/// Opens the stages of a plan here. Its devices are of no account. `threads`: those that operators
/// share; other numbers may give other bits. Fails: as training_stages() and ShardRunner::load()
/// do.
Expected<std::unique_ptr<TrainingPipeline>> open_local_pipeline(
    const model::Model& model, const model::Model& loss, const plan::Plan& plan,
    const plan::TrainingSettings& settings, const std::vector<plan::StateTensor>& state,
    int threads);

}  // namespace pareto::train
