// Ways in which the trials of a sweep send values over their links, for predictions.
//
//   trials ──▶ transports and codecs to probe ──▶ CostInputs ──▶ each trial's way on each link
#pragma once

#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/profile/link_transports.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::sweep {

/// Returns, for every link, the transports that a trial uses there and that the link can have, each
/// once. A link of the coordinator that no trial uses has the nearest transport, because devices
/// are profiled over it. Other unused links have none.
/// Fails: as link_transports does for a transport that any trial has.
Expected<profile::LinkTransports> transports_of(const std::vector<results::TrialRecord*>& trials,
                                                const cluster::Cluster& cluster);

/// Returns "none" and the codecs of the trials, each once. For "auto" these are the codecs that it
/// may stand for. `codec_error` is the error that "auto" may cause, as in SweepOptions.
std::vector<std::string> codecs_of(const std::vector<results::TrialRecord*>& trials,
                                   double codec_error);

/// Returns Placement::codecs of a plan's placement, from its transports and codecs. "auto" is the
/// codec that takes the values at that cut across soonest.
/// Fails: kNotFound (a link that was not probed in that way).
Expected<std::vector<int>> ways_of(const plan::Plan& plan, const planning::Placement& placement,
                                   const planning::CostInputs& inputs, double codec_error);

}  // namespace pareto::sweep
