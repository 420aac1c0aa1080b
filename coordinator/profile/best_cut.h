// Chooses a cut between two devices by what their profiles predict.
//
//   cuts + stored profiles + probed links ──▶ CostInputs ──evaluate, each cut──▶ PredictedCut
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/results/store.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/inputs/cost_model.h"

namespace pareto::profile {

struct PredictedCut {
  std::size_t point = 0;  ///< index into Model::split_points()
  Nanoseconds latency{};  ///< predicted latency of a lone request
};

/// Returns the cut whose pipeline over the first two devices is predicted to answer a lone request
/// soonest; of several, the first. `plan` says settings and batch. `transports`: those asked for,
/// as link_transports() takes them. The links between the two and the coordinator are probed, and
/// `progress` gets what is probed.
/// Fails: kNotFound (a device that was not profiled for the model with those settings: with the
/// remedy; no cut that can be predicted), kClosed (stopped), and as probe_links() and the store do.
Expected<PredictedCut> best_cut(const model::Model& model, const cluster::Cluster& cluster,
                                const plan::Plan& plan, const planning::SplitChoice& cuts,
                                const std::vector<std::string>& transports,
                                results::ResultStore& store, const std::atomic<bool>& stop,
                                const std::function<void(const std::string&)>& progress);

}  // namespace pareto::profile
