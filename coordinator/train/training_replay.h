// Replays a step of training, whole and cut: both have to compute the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/plan/training_values.h"
#include "core/tensor/value.h"
#include "partitioner/model/graph/model.h"

namespace pareto::train {

/// Returns made-up labels: a tensor int64 {batch}, all 0.
Expected<Value> zero_labels(std::int64_t batch);

/// One step of training. The optimiser has momentum, so that its state holds each gradient.
struct ReplayedStep {
  double loss = 0;
  std::vector<plan::StateTensor> state;  ///< see TrainingPipeline::state(), after the step
};

/// Trains a model in the stages of a plan for one step, in this process, on made-up samples at the
/// plan's batch. `threads`: those that operators share. Fails: as open_local_pipeline() and
/// TrainingPipeline::step() do.
Expected<ReplayedStep> replay_step(const model::Model& model, const model::Model& loss,
                                   const plan::Plan& plan, int threads);

/// Returns what two steps differ in first: the loss, a gradient, a parameter or buffer; "": in no
/// bit.
std::string first_difference(const ReplayedStep& whole, const ReplayedStep& cut);

/// Replays a step of the whole model and of a plan's stages, on a thread of its own, and returns
/// first_difference(). Fails: as replay_step(), naming the whole model if that cannot be trained.
Expected<std::string> training_difference(const model::Model& model, const model::Model& loss,
                                          const plan::Plan& plan, int threads);

}  // namespace pareto::train
