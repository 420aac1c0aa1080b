#include "coordinator/train/training_state.h"

#include <algorithm>

namespace pareto::train {

void LossCurve::add(std::int64_t step, double loss) {
  if (points_.empty() || points_.back().steps >= stride_) {
    if (points_.size() >= kMostPoints) {
      for (std::size_t i = 0; i < points_.size() / 2; ++i) {
        const Point& second = points_[2 * i + 1];
        points_[i] = points_[2 * i];
        points_[i].steps += second.steps;
        points_[i].loss_sum += second.loss_sum;
      }
      points_.resize(points_.size() / 2);
      stride_ *= 2;
    }
    points_.push_back({.step = step});
  }
  ++points_.back().steps;
  points_.back().loss_sum += loss;
}

void StepSums::add(const StepOutcome& step, double step_seconds, double waited_seconds) {
  ++steps;
  samples += step.samples;
  loss += step.loss * static_cast<double>(step.samples);
  if (step.correct >= 0) correct = std::max<std::int64_t>(correct, 0) + step.correct;
  seconds += step_seconds;
  data_seconds += waited_seconds;
  stages.resize(std::max(stages.size(), step.stages.size()));
  for (std::size_t i = 0; i < step.stages.size(); ++i) {
    stages[i].forward += step.stages[i].forward;
    stages[i].backward += step.stages[i].backward;
    stages[i].optimiser += step.stages[i].optimiser;
    stages[i].waiting += step.stages[i].waiting;
    stages[i].bytes_sent += step.stages[i].bytes_sent;
    stages[i].bytes_raw += step.stages[i].bytes_raw;
  }
}

double StepSums::mean_loss() const { return samples > 0 ? loss / static_cast<double>(samples) : 0; }

std::optional<double> StepSums::accuracy() const {
  if (correct < 0 || samples == 0) return std::nullopt;
  return static_cast<double>(correct) / static_cast<double>(samples);
}

double StepSums::samples_per_second() const {
  return seconds > 0 ? static_cast<double>(samples) / seconds : 0;
}

}  // namespace pareto::train
