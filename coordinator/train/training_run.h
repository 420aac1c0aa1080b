// The loop of a training: epochs of steps, checkpoints between them, and an end in order.
//
//   data ──BatchOrder──▶ batch ──micro-batches──▶ TrainingPipeline::step ──▶ loss
//          every N steps, and after each epoch's validation ──▶ checkpoint
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/data/data_set.h"
#include "coordinator/train/checkpoint.h"
#include "coordinator/train/training_pipeline.h"
#include "coordinator/train/training_setup.h"
#include "coordinator/train/training_state.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::train {

/// One step, for those who watch.
struct StepReport {
  std::int64_t epoch = 0;          ///< counts from 0
  std::int64_t step_in_epoch = 0;  ///< counts from 0
  std::int64_t steps_per_epoch = 1;
  std::int64_t step = 0;  ///< counts from 0 over all epochs
  double learning_rate = 0;
  double seconds = 0;       ///< wall time, data included
  double data_seconds = 0;  ///< of it: time without samples to train on
  StepOutcome outcome;
};

/// Hears of a training while it runs, on the thread that trains.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void on_step(const StepReport& /*step*/) {}
  /// Hears that `done` of `all` batches of the validation are done.
  virtual void on_validation(std::int64_t /*done*/, std::int64_t /*all*/) {}
  virtual void on_epoch(const EpochRecord& /*epoch*/) {}
  virtual void on_checkpoint(const std::filesystem::path& /*path*/) {}
};

/// The parts that a training works with. All of them outlive it.
struct TrainingParts {
  TrainingPipeline& pipeline;
  const data::DataSet& data;
  const data::DataSet* validation = nullptr;  ///< null: epochs end without a validation
  CheckpointFolder* checkpoints = nullptr;    ///< null: there are none
  std::int64_t checkpoint_every = 0;          ///< steps; 0: after each epoch only
  const std::atomic<bool>& stop;              ///< set: the training ends after the step in hand
  TrainingObserver& observer;
  const Clock& clock;
};

enum class TrainingEnd {
  kDone,
  kStopped,    ///< somebody wanted to stop
  kNotFinite,  ///< a loss, gradients or parameters that are no numbers
};

struct TrainingOutcome {
  TrainingEnd end = TrainingEnd::kDone;
  TrainingProgress progress;
  /// State of the model at its end. Empty if it is not finite.
  std::vector<plan::StateTensor> state;
  std::optional<std::filesystem::path>
      checkpoint;      ///< the last one that was written, or gone on from
  std::string reason;  ///< of kNotFinite: the step, and what is no number
};

/// Trains from `begin` on until the setup's epochs are done. The pipeline has the state of that
/// moment. A training that goes on from a checkpoint gives the bits of one that was never stopped.
/// `resumed`: the checkpoint that it goes on from; no value writes one before the first step.
/// Fails: as the pipeline, the data set and CheckpointFolder::write() do, with the step and the
/// last good checkpoint; kInvalidArgument (a position that the data does not have).
Expected<TrainingOutcome> run_training(const TrainingSetup& setup, const TrainingParts& parts,
                                       TrainingProgress begin,
                                       std::optional<std::filesystem::path> resumed);

}  // namespace pareto::train
