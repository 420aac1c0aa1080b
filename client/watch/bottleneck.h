// Who holds a pipeline up: what is busy all the time, everything else waits for.
#pragma once

#include "client/watch/activity.h"

namespace pareto::watch {

/// The share of time from which on somebody counts as busy all of it: readings are not taken
/// between two requests.
inline constexpr double kBusyShare = 0.85;

/// Returns the bottleneck of a pipeline. A stage that failed comes first, then one that drains.
/// Else it is the busiest stage or link; if a stage and a link are equally busy, the stage.
/// `pipeline` is one of those in `activity`.
Bottleneck bottleneck_of(const Activity& activity, const PipelineView& pipeline);

}  // namespace pareto::watch
