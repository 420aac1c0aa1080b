#include "coordinator/train/step_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "coordinator/train/mixed_bits.h"

namespace pareto::train {

std::int64_t random_seed(const StepOrder& order, std::uint32_t micro_batch) {
  return std::bit_cast<std::int64_t>(
      mixed_bits(mixed_bits(mixed_bits(order.seed) ^ order.step) ^ micro_batch));
}

double total_norm(std::vector<plan::GradientNorm> norms) {
  // Sums of floating point numbers depend on their order.
  std::ranges::sort(norms);
  double squares = 0;
  for (const auto& [name, norm] : norms) squares += norm * norm;
  return std::sqrt(squares);
}

double clip_scale(double norm, double clip_norm) {
  constexpr double kAgainstZero = 1e-6;
  // A step whose gradients are no numbers ends the training anyway.
  if (clip_norm <= 0 || !std::isfinite(norm)) return 1;
  return std::min(clip_norm / (norm + kAgainstZero), 1.0);
}

double share_of(const MicroBatch& micro_batch, const std::vector<MicroBatch>& batch) {
  std::int64_t samples = 0;
  for (const MicroBatch& one : batch) samples += one.samples;
  return static_cast<double>(micro_batch.samples) / static_cast<double>(samples);
}

void add_outcome(const plan::Outcome& outcome, double share, std::int64_t samples,
                 StepOutcome& step) {
  step.loss += share * outcome.loss;
  step.samples += samples;
  if (outcome.correct >= 0)
    step.correct = std::max<std::int64_t>(step.correct, 0) + outcome.correct;
}

}  // namespace pareto::train
