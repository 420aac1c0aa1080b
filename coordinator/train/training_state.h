// How far a training has come, and how it went so far: all that a checkpoint holds next to the
// model's state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/train/training_pipeline.h"

namespace pareto::train {

/// The next step of a training.
struct TrainingPosition {
  std::int64_t epoch = 0;          ///< counts from 0
  std::int64_t step_in_epoch = 0;  ///< steps of the epoch that are done
  std::int64_t step = 0;           ///< steps that are done, of all epochs
  /// Micro-batches that are done: as often has each batch norm taken statistics.
  std::int64_t micro_batches = 0;
  bool operator==(const TrainingPosition&) const = default;
};

/// Mean losses of steps that follow each other, for a curve of bounded size: if there are too many
/// points, each two become one.
///
/// Threads: one owner.
class LossCurve {
 public:
  struct Point {
    std::int64_t step = 0;   ///< the first of its steps
    std::int64_t steps = 0;  ///< at least 1
    double loss_sum = 0;
    bool operator==(const Point&) const = default;
    double loss() const { return loss_sum / static_cast<double>(steps); }
  };
  static constexpr std::size_t kMostPoints = 1024;

  LossCurve() = default;
  /// `stride`: steps of a whole point.
  LossCurve(std::vector<Point> points, std::int64_t stride)
      : points_(std::move(points)), stride_(stride) {}

  void add(std::int64_t step, double loss);
  const std::vector<Point>& points() const { return points_; }
  std::int64_t stride() const { return stride_; }
  bool operator==(const LossCurve&) const = default;

 private:
  std::vector<Point> points_;
  std::int64_t stride_ = 1;
};

/// Sums over the steps of an epoch, or of a part of it.
struct StepSums {
  std::int64_t steps = 0;
  std::int64_t samples = 0;
  double loss = 0;                           ///< each step's loss times its samples
  std::int64_t correct = -1;                 ///< −1: no classes
  double seconds = 0;                        ///< wall time of the steps, data included
  double data_seconds = 0;                   ///< of it: time without samples to train on
  std::vector<plan::StageStepTimes> stages;  ///< one for each stage

  /// Adds a step that took that long.
  void add(const StepOutcome& step, double step_seconds, double waited_seconds);
  /// Returns the mean loss of a sample; 0 without samples.
  double mean_loss() const;
  /// Returns the share of correct samples; no value without classes.
  std::optional<double> accuracy() const;
  double samples_per_second() const;
};

/// Quality of a model on samples that it was not trained on.
struct Validation {
  std::int64_t samples = 0;
  std::int64_t correct = 0;
  double cross_entropy = 0;  ///< mean over the samples, of the outputs as logits
  double seconds = 0;
  double accuracy() const {
    return samples > 0 ? static_cast<double>(correct) / static_cast<double>(samples) : 0;
  }
};

/// A whole epoch.
struct EpochRecord {
  std::int64_t epoch = 0;    ///< counts from 0
  std::int64_t step = 0;     ///< steps done at its end, of all epochs
  double learning_rate = 0;  ///< of its last step
  StepSums sums;
  std::optional<Validation> validation;
};

struct TrainingHistory {
  LossCurve losses;
  std::vector<EpochRecord> epochs;
  StepSums epoch_so_far;  ///< sums of the epoch that is under way
};

/// A training between two steps.
struct TrainingProgress {
  TrainingPosition position;
  TrainingHistory history;
};

}  // namespace pareto::train
