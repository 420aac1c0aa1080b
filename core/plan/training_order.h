// The order in which a stage runs its passes in one step of training. Stages and the coordinator
// follow it alike, so nobody has to be told what comes next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto::plan {

/// All micro-batches go forward, then all go backward (Huang et al., "GPipe", 2019). A stage keeps
/// the activations of all.
inline constexpr const char* kFillDrain = "fill-drain";
/// A stage goes backward as soon as it can (Narayanan et al., "PipeDream", 2019, with a flush at
/// the end of the step). It keeps the activations of at most as many micro-batches as stages follow
/// it, and one.
inline constexpr const char* kOneForwardOneBackward = "1f1b";

/// Returns the names of all orders.
const std::vector<std::string>& training_orders();
/// Checks that there is an order of that name. Fails: kInvalidArgument (no order of that name; says
/// which there are).
Expected<> check_training_order(std::string_view order);

struct TrainingPass {
  bool backward = false;
  std::uint32_t micro_batch = 0;
  bool operator==(const TrainingPass&) const = default;
};

/// Returns the passes of stage `stage` of `stages`: each micro-batch once forward, once backward.
/// Micro-batches ascend in both directions, so gradients are summed in the order of plain gradient
/// accumulation. `order` is a name of training_orders().
std::vector<TrainingPass> training_passes(std::string_view order, std::uint32_t stage,
                                          std::uint32_t stages, std::uint32_t micro_batches);

}  // namespace pareto::plan
