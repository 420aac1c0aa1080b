// Numbers of a step that every pipeline computes alike, so that all give the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/train/training_pipeline.h"
#include "core/plan/training_values.h"

namespace pareto::train {

/// Returns the seed of the random numbers that a micro-batch of a step draws.
std::int64_t random_seed(const StepOrder& order, std::uint32_t micro_batch);

/// Returns the norm of all gradients together, whatever the order of `norms`.
double total_norm(std::vector<plan::GradientNorm> norms);
/// Returns the factor by which gradients of that norm are multiplied, as clip_grad_norm_ of PyTorch
/// has it: 1 if they are not clipped.
double clip_scale(double norm, double clip_norm);

/// Returns the share of a micro-batch in the loss of its batch.
double share_of(const MicroBatch& micro_batch, const std::vector<MicroBatch>& batch);

/// Adds the outcome of a micro-batch to that of its step. `share` is that of share_of().
void add_outcome(const plan::Outcome& outcome, double share, std::int64_t samples,
                 StepOutcome& step);

}  // namespace pareto::train
