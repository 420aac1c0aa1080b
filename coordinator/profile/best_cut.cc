#include "coordinator/profile/best_cut.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/cluster/deployment.h"
#include "coordinator/profile/known_devices.h"
#include "coordinator/profile/link_prober.h"
#include "coordinator/profile/link_transports.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::profile {
namespace {

constexpr std::size_t kStages = 2;

/// Returns the two devices as they were profiled with the plan's settings.
Expected<std::vector<planning::DeviceFacts>> profiled_devices(const model::Model& model,
                                                              const cluster::Cluster& cluster,
                                                              const plan::Plan& plan,
                                                              results::ResultStore& store) {
  PARETO_ASSIGN(const auto known, known_devices(model, cluster, plan, store));
  std::vector<planning::DeviceFacts> facts;
  for (std::size_t i = 0; i < kStages; ++i) {
    if (!known[i]) return tl::unexpected(not_profiled(cluster.device(i), model, plan));
    facts.push_back(*known[i]);
  }
  // Others take no part, and are known by nothing.
  facts.resize(cluster.size(), facts.front());
  return facts;
}

/// Leaves the links of a pipeline over the first two devices.
void keep_pipeline(LinkTransports& links) {
  const std::size_t coordinator = links.size() - 1;
  for (std::size_t from = 0; from < links.size(); ++from) {
    for (std::size_t to = 0; to < links.size(); ++to) {
      const bool is_used = (from == coordinator && to == 0) || (from == 0 && to == 1) ||
                           (from == 1 && to == coordinator);
      if (!is_used) links[from][to].clear();
    }
  }
}

}  // namespace

Expected<PredictedCut> best_cut(const model::Model& model, const cluster::Cluster& cluster,
                                const plan::Plan& plan, const planning::SplitChoice& cuts,
                                const std::vector<std::string>& transports,
                                results::ResultStore& store, const std::atomic<bool>& stop,
                                const std::function<void(const std::string&)>& progress) {
  PARETO_ASSIGN(const auto devices, profiled_devices(model, cluster, plan, store));
  PARETO_ASSIGN(LinkTransports links, link_transports(transports, cluster));
  keep_pipeline(links);
  PARETO_ASSIGN(const auto sizes, sizes_to_probe(model, cuts, {plan.batch}));
  std::vector<planning::ProbedTransport> probed;
  for (const std::string& name : names_in(links)) {
    PARETO_ASSIGN(auto one, probe_links(cluster, links, name, sizes, stop, progress));
    probed.push_back({name, std::move(one)});
  }
  PARETO_ASSIGN(const planning::CostInputs inputs,
                planning::make_cost_inputs(model, cuts, plan.batch, devices, probed));
  std::optional<PredictedCut> best;
  const int end = static_cast<int>(cuts.size()) + 1;
  for (int i = 1; i < end; ++i) {
    const auto evaluated = planning::evaluate(inputs, {{{0, 0, i}, {1, i, end}}});
    if (!evaluated || (best && evaluated->latency >= best->latency)) continue;
    best = PredictedCut{cuts[static_cast<std::size_t>(i) - 1], evaluated->latency};
  }
  if (best) return *best;
  return fail(ErrorCode::kNotFound, "no cut can be predicted: no device has room for its part");
}

}  // namespace pareto::profile
