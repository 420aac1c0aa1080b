// --split auto of `run`: the cut that is predicted to answer soonest, if the devices were profiled.
#pragma once

#include <string>
#include <vector>

#include "client/command.h"
#include "client/commands/run_cuts.h"
#include "client/flags/store_flags.h"
#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"

namespace pareto::client::commands {

/// The model, devices and way that a cut is chosen for.
struct CutRequest {
  const model::Model& model;
  const cluster::Cluster& cluster;
  const plan::Plan& plan;        ///< its settings and batch
  const std::string& transport;  ///< as --transport of `run` has it
};

/// Replaces `cuts`, which hold the cut that the fewest bytes cross, by the predicted one. They stay
/// if a device was not profiled. Says on stderr which cut is taken, and why. Fails: as
/// profile::best_cut() but for kNotFound.
Expected<> take_best_cut(Context& context, const CutRequest& request, const RunCuts& named,
                         const StoreFlags& profiles, std::vector<model::Cut>& cuts);

}  // namespace pareto::client::commands
