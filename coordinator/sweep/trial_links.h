// How the trials of a sweep send what crosses their links, as predictions see it.
//
//   trials ──▶ transports and codecs to be probed ──▶ CostInputs ──▶ of each trial the ways that its links take
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

/// Of every link the transports that one of the trials has there, none twice, of those that the link can have. A link of the coordinator
/// that no trial needs has the nearest, for devices are profiled over it; others that none needs have none. Fails: as link_transports
/// does of a transport that any trial has.
Expected<profile::LinkTransports> transports_of(const std::vector<results::TrialRecord*>& trials,
                                                const cluster::Cluster& cluster);

/// "none" and the codecs that one of the trials has, none twice; of "auto" those that it may stand for. `codec_error`: what "auto" may
/// lose, as SweepOptions has it.
std::vector<std::string> codecs_of(const std::vector<results::TrialRecord*>& trials,
                                   double codec_error);

/// Placement::codecs of a plan's placement, by its transports and codecs; "auto" is the codec that takes what crosses there soonest. Fails:
/// kNotFound (a link that was not probed like that).
Expected<std::vector<int>> ways_of(const plan::Plan& plan, const planning::Placement& placement,
                                   const planning::CostInputs& inputs, double codec_error);

}  // namespace pareto::sweep
