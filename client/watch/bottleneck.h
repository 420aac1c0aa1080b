// Who holds a pipeline up: what is busy all the time, everything else waits for.
#pragma once

#include "client/watch/activity.h"

namespace pareto::client {

/// The share of time from which on somebody counts as busy all of it: readings are not taken
/// between two requests.
inline constexpr double kBusyShare = 0.85;

/// Returns a stage that failed, else one that drains, however busy anybody is; else the busiest of
/// its stages and links; of a stage and a link that are equally busy the stage. `pipeline` is one
/// of `activity`'s devices.
Bottleneck bottleneck_of(const Activity& activity, const PipelineView& pipeline);

}  // namespace pareto::client
