// A shard that is trained: one stage of a pipeline, or a whole model.
//
//   forward ──keeps the graph of gradients under the micro-batch's number──▶ backward ──▶ step
//
// Nothing is computed twice: backward uses what forward kept, dropout's masks included. With equal
// inputs, a pipeline of trainers gives the bits that one trainer of the whole model gives.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "core/plan/training.h"
#include "core/plan/training_values.h"
#include "runtime/shard_runner.h"

namespace pareto::runtime {

/// Options of a shard that is trained.
struct TrainingOptions {
  plan::TrainingSettings settings;
  /// The last stage's: a shard that takes the model's outputs and the target, and gives one number,
  /// the loss.
  std::optional<plan::Shard> loss;
};

/// Loads a shard to be trained if options.training says how, and as ShardRunner::load() does
/// otherwise. One that is trained has parameters of its own; run() evaluates it with those that it
/// has by then.
/// Fails: as ShardRunner::load(); kCorrupt (a state that does not fit), kInvalidArgument (quantised
/// weights).
Expected<std::unique_ptr<ShardRunner>> load_runner(const plan::Shard& shard,
                                                   const WeightSource& weights,
                                                   const RunnerOptions& options);

/// Parameters, gradients and optimiser of one shard.
///
/// Threads: one at a time.
/// Fails: kInvalidArgument (values that the shard or the loss refuses, a micro-batch that did not
/// go forward or has not come back), kExhausted (no memory). After a failure, only state() is of
/// use.
class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual const plan::TrainingSettings& settings() const = 0;

  /// Runs the shard on a micro-batch as training does.
  virtual Expected<plan::Activations> forward(std::uint32_t micro_batch,
                                              const plan::Activations& inputs) = 0;
  /// Does the same at the last stage, and computes the loss.
  virtual Expected<plan::Outcome> forward_to_loss(std::uint32_t micro_batch,
                                                  const plan::Activations& inputs,
                                                  const plan::Target& target) = 0;
  /// Adds the gradients of a micro-batch to those of the parameters, and forgets the micro-batch.
  /// `gradients` are those of what forward() returned; the last stage takes none. Returns those of
  /// the inputs. Norms are passed on as they are.
  virtual Expected<plan::Gradients> backward(std::uint32_t micro_batch,
                                             plan::Gradients gradients) = 0;
  /// Returns the norms of the summed gradients of the parameters that no earlier stage has.
  virtual Expected<std::vector<plan::GradientNorm>> norms() = 0;
  /// Lets the optimiser step, and clears the gradients. Returns the command for the stage behind.
  virtual Expected<plan::StepCommand> step(plan::StepCommand command) = 0;
  /// Returns copies of the shard's parameters and buffers, and of the optimiser's state.
  virtual Expected<std::vector<plan::StateTensor>> state() = 0;
};

}  // namespace pareto::runtime
