#include "coordinator/profile/profiled_stages.h"

#include <cstdint>
#include <optional>

#include "coordinator/cluster/deployment.h"
#include "coordinator/profile/device_profiler.h"
#include "partitioner/planning/cost/device_costs.h"

namespace pareto::profile {

Expected<std::vector<Nanoseconds>> profiled_stages(const plan::Plan& plan,
                                                   const model::Model& model,
                                                   const cluster::Cluster& cluster,
                                                   results::ResultStore& store) {
  std::vector<Nanoseconds> stages(plan.stages.size());
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  const bool whole = plan.stages.front().begin == 0 && plan.stages.back().end == operators;
  if (!whole || plan.has_own_order()) return stages;
  ProfileRequest request;
  request.model = model.name();
  request.model_digest = model.digest().hex();
  request.operators = operators;
  std::vector<std::int64_t> positions{0};
  for (const plan::StagePlan& stage : plan.stages) {
    if (stage.end > positions.back()) positions.push_back(stage.end);
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    request.settings = cluster::shard_settings(plan, i);
    PARETO_ASSIGN(const cluster::DaemonClient* device, cluster.find(plan.stages[i].device));
    PARETO_ASSIGN(const auto profile, store.find_profile(profile_key(cluster, *device, request)));
    if (!profile) continue;
    const auto costs = planning::device_costs(*profile, positions);
    if (!costs) continue;
    const int place = plan.replicated ? 0 : static_cast<int>(i);
    stages[i] = costs->when_busy().time(place, place + 1);
  }
  return stages;
}

}  // namespace pareto::profile
