// Computes what the stages and links of a plan add to its values of the searched objectives.
#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::planning {

/// Returns what searches know of what crosses a position on a link by one of its codecs.
HopView hop_view(const CostInputs& inputs, const LinkCosts& link, int codec, int position);
/// Returns what a message adds to a pipeline's value. `objective`: one that is searched.
std::int64_t hop_value(const Objective& objective, const HopView& hop);
/// Returns the value of a stage of the operators [begin, end) that works for `time`, messages
/// included.
std::int64_t stage_value(const Objective& objective, const DeviceCosts& device, int begin, int end,
                         Nanoseconds time);
/// Returns the value of two parts together. Means are sums here: of_replicas() divides them by the
/// number of parts.
std::int64_t combined(Combine how, std::int64_t a, std::int64_t b);
/// Returns the value of `turn` replicas from their combined one.
std::int64_t of_replicas(Combine how, std::int64_t value, std::int64_t turn);

}  // namespace pareto::planning
