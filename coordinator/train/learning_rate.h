// Learning rates over the steps of a training: what PyTorch's schedulers compute, each a function
// of the step, so that a training that goes on needs nothing of the one before.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"

namespace pareto::train {

inline constexpr const char* kConstantRate = "constant";
inline constexpr const char* kStepRate = "step";      ///< StepLR, by epochs
inline constexpr const char* kCosineRate = "cosine";  ///< CosineAnnealingLR, by steps

/// A learning rate and how it changes.
///
/// | schedule | rate at a step behind the warm-up |
/// |---|---|
/// | constant | base |
/// | step | base × factor^⌊epoch / epochs⌋ |
/// | cosine | least + (base − least) × (1 + cos(π t / T)) / 2 |
///
/// t counts the steps behind the warm-up, and T is how many there are in all. During the warm-up
/// the rate is base × (step + 1) / warm_up.
struct LearningRate {
  double base = 0.01;
  std::string schedule = kConstantRate;
  std::int64_t epochs = 30;  ///< step: epochs between two changes
  double factor = 0.1;       ///< step: what each change multiplies the rate by
  double least = 0;          ///< cosine: the rate at the end
  std::int64_t warm_up = 0;  ///< steps in which the rate grows to `base`
  bool operator==(const LearningRate&) const = default;
};

/// A place in a training.
struct StepPlace {
  std::int64_t step = 0;             ///< counts from 0 over all epochs
  std::int64_t steps_per_epoch = 1;  ///< at least 1
  std::int64_t steps = 1;            ///< of the whole training, at least 1
};

/// Returns the rate of a step.
double rate_at(const LearningRate& rate, const StepPlace& place);

/// Reads a schedule: "constant", "step:30" or "step:30:0.1" (epochs, factor), "cosine" or
/// "cosine:1e-5" (the rate at the end). Base and warm-up are left as they are. Fails:
/// kInvalidArgument naming the text.
Expected<> read_schedule(const std::string& text, LearningRate& rate);
/// Returns the text that read_schedule() reads.
std::string schedule_text(const LearningRate& rate);

/// Checks that all numbers are finite and in range. Fails: kInvalidArgument naming the value.
Expected<> check_rate(const LearningRate& rate);

}  // namespace pareto::train
