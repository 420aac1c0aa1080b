// What stages that train say to each other, and to the coordinator. Format: FORMAT.md.
//
//   source ──kTrain──▶ stage 0 ──kTrain──▶ … ──▶ last stage ◀──kTrain (target)── sink
//          ◀kGradient─         ◀─kGradient─ …               ──kTrain (outcome)─▶
//          ──kStep───▶         ──kStep───▶ …               ──kStep────────────▶
//
// A message's request is the step, its sequence the micro-batch.
#pragma once

#include <cstdint>

#include "core/base/error.h"
#include "core/plan/training_values.h"
#include "core/wire/message.h"

namespace pareto::control {

/// Place of a message in a training.
struct TrainingPlace {
  std::uint64_t pipeline = 0;
  std::uint64_t step = 0;
  std::uint32_t micro_batch = 0;
};

/// Activations, and how many micro-batches their step has.
struct TrainingInputs {
  plan::Activations activations{};
  std::uint32_t micro_batches = 1;
  bool wants_norms = false;  ///< true if the last gradients of the step bring norms with them
};

wire::Message train_message(const TrainingPlace& place, TrainingInputs inputs);
wire::Message target_message(const TrainingPlace& place, plan::Target target);
wire::Message outcome_message(const TrainingPlace& place, const plan::Outcome& outcome);
wire::Message gradient_message(const TrainingPlace& place, plan::Gradients gradients);
wire::Message step_message(const TrainingPlace& place, plan::StepCommand command);

// Each reads what a peer sent, and takes its tensors. Fails: kCorrupt (another kind, another
// structure, a number outside of its range).
Expected<TrainingInputs> train_inputs_from(wire::Message message);
Expected<plan::Target> target_from(wire::Message message);
Expected<plan::Outcome> outcome_from(const wire::Message& message);
Expected<plan::Gradients> gradients_from(wire::Message message);
Expected<plan::StepCommand> step_from(wire::Message message);

}  // namespace pareto::control
