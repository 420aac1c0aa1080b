// A model that is trained in stages: one on each device, or all in this process.
//
//   step:  micro-batches ──forward──▶ stage 0 ═▶ … ═▶ last stage ◀── targets
//                        ◀─gradients─ stage 0 ◀═ … ◀═ last stage ──▶ losses
//          then every stage's optimiser takes its step
//
// Stages run their passes in the order of coordinator and daemons alike
// (core/plan/training_order.h), so that gradients are those of plain gradient accumulation, bit for
// bit, however the model is cut.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/training_values.h"
#include "core/tensor/value.h"

namespace pareto::train {

/// A part of a batch that crosses the pipeline at once.
struct MicroBatch {
  std::vector<Value> inputs;
  Value target;              ///< labels: a tensor int64 {N}
  std::int64_t samples = 0;  ///< N: its loss counts by its share of the batch
};

/// Checks that a step can be made of a batch. Fails: kInvalidArgument (no micro-batch, too many,
/// one without samples).
Expected<> check_batch(const std::vector<MicroBatch>& batch);

/// Settings of one step.
struct StepOrder {
  std::uint64_t seed = 0;  ///< seed of dropout, together with the step
  std::uint64_t step = 0;  ///< counts up from 0
  double learning_rate = 0;
  double clip_norm = 0;  ///< the most that the norm of all gradients may be; 0: any
};

struct StepOutcome {
  double loss = 0;  ///< mean over the samples of the batch, before the step
  std::int64_t samples = 0;
  std::int64_t correct = -1;  ///< samples whose largest output is their label; −1: no classes
  double gradient_norm = -1;  ///< of all gradients, before they were clipped; −1: not computed
  std::vector<plan::StageStepTimes> stages;
};

/// A model whose parameters change. Deterministic: equal settings, states and batches give equal
/// bits.
///
/// Threads: one.
class TrainingPipeline {
 public:
  virtual ~TrainingPipeline() = default;
  /// Runs one step on a batch in micro-batches. Fails: kInvalidArgument (values that the model or
  /// the loss refuses), kUnavailable or kTimeout (a device is lost, with its name). After a failure
  /// the state is not known: open another pipeline from the last checkpoint.
  virtual Expected<StepOutcome> step(const std::vector<MicroBatch>& batch,
                                     const StepOrder& order) = 0;
  /// Returns the model's outputs as in evaluation: without dropout, with the statistics of norms.
  /// Fails: as step() does; the state stays as it is.
  virtual Expected<std::vector<Value>> evaluate(std::vector<Value> inputs) = 0;
  /// Returns parameters, buffers and the optimiser's state of all stages, each name once, in the
  /// order of the names. Fails: as step() does.
  virtual Expected<std::vector<plan::StateTensor>> state() = 0;
  /// Returns the names of its devices, one for each stage.
  virtual const std::vector<std::string>& devices() const = 0;
};

}  // namespace pareto::train
