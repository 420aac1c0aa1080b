// The stages of a plan as they are trained: a shard and settings for each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/shard.h"
#include "core/plan/training.h"
#include "core/plan/training_values.h"
#include "core/tensor/tensor.h"
#include "partitioner/model/graph/model.h"
#include "runtime/shard_runner.h"

namespace pareto::train {

struct TrainingStage {
  plan::Shard shard;
  plan::TrainingSettings settings;
};

/// Returns the stages of a plan. Each has what `settings` says, its number, the parameters that it
/// shares with others, and its part of `state`: an earlier training's, or nothing. Parameters that
/// the model's file does not train are frozen, unless it trains none at all. Fails:
/// kInvalidArgument (a path of settings.frozen that no parameter is at or under, with the nearest;
/// a last stage without a parameter to train; state that no stage has), and as emit_shard() does.
Expected<std::vector<TrainingStage>> training_stages(const model::Model& model,
                                                     const plan::Plan& plan,
                                                     const plan::TrainingSettings& settings,
                                                     const std::vector<plan::StateTensor>& state);

/// Returns a source of the weights of a model and of its loss, and of an earlier training's state.
/// All of them outlive it.
runtime::WeightSource training_weights(const model::Model& model, const model::Model& loss,
                                       const std::vector<plan::StateTensor>& state);

}  // namespace pareto::train
