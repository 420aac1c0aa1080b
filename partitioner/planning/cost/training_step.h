// What a step of training takes, before it has run once: the passes of all micro-batches through
// the stages of a pipeline, in the order that the stages follow themselves.
//
//   forward    F(i, m) begins once stage i is free and the activations of m have come
//   backward   B(i, m) begins once stage i is free and the gradients of m have come
//   optimiser  O(i) begins once the passes of stage i are done and O(i - 1) is
//   step       ends as the last stage's end of O comes to the coordinator
//
// Links work while stages compute. A link carries one message at a time each way.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "partitioner/planning/cost/cost_inputs.h"

namespace pareto::planning {

/// Times of one stage.
struct TrainingStageTimes {
  Nanoseconds forward{};    ///< time of a micro-batch
  Nanoseconds backward{};   ///< time of a micro-batch
  Nanoseconds optimiser{};  ///< time of a step

  TrainingStageTimes& operator+=(const TrainingStageTimes& other);
  bool operator==(const TrainingStageTimes&) const = default;
};

/// Times of a message on the link into a stage, from the stage before it or the coordinator.
struct TrainingLinkTimes {
  LinkTimes activations{};
  LinkTimes gradients{};  ///< on their way back
  LinkTimes command{};    ///< of the command to step, which is small
};

struct TrainingPipelineTimes {
  std::vector<TrainingStageTimes> stages;  ///< at least one
  std::vector<TrainingLinkTimes> links;    ///< one for each stage
  LinkTimes result{};                      ///< what the last stage tells the coordinator
};

/// Returns the time of a step. `order`: a name of plan::training_orders(). `shares`: for each
/// micro-batch, its samples as a share of those that the times are of; at least one.
Nanoseconds training_step_time(const TrainingPipelineTimes& times, std::string_view order,
                               const std::vector<double>& shares);

}  // namespace pareto::planning
