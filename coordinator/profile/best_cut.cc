#include "coordinator/profile/best_cut.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "coordinator/cluster/deployment.h"
#include "coordinator/profile/device_profiler.h"
#include "coordinator/profile/link_prober.h"
#include "coordinator/profile/link_transports.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::profile {
namespace {

constexpr std::size_t kStages = 2;

/// Returns the two devices as they were profiled with those settings.
Expected<std::vector<planning::DeviceFacts>> profiled_devices(const model::Model& model,
                                                              const cluster::Cluster& cluster,
                                                              const plan::Plan& plan,
                                                              results::ResultStore& store) {
  ProfileWish wish;
  wish.model = model.name();
  wish.model_digest = model.digest().hex();
  wish.operators = static_cast<std::int64_t>(model.graph().operators.size());
  wish.settings = {plan.settings, plan.batch};
  std::vector<planning::DeviceFacts> facts(cluster.size());
  for (std::size_t i = 0; i < kStages; ++i) {
    const cluster::DaemonClient& device = cluster.device(i);
    PARETO_ASSIGN(auto profile, store.find_profile(profile_key(cluster, device, wish)));
    if (!profile) {
      return fail(ErrorCode::kNotFound,
                  "{} was not profiled for {} at {} (paretoctl profile measures it)",
                  device.config().name, model.name(), settings_text(wish.settings));
    }
    facts[i] = {*std::move(profile), device.info().memory_limit_bytes, device.config().figures,
                device.config().medium};
  }
  // Others take no part, and are known by nothing.
  for (std::size_t i = kStages; i < facts.size(); ++i) facts[i] = facts.front();
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
  std::vector<std::int64_t> positions{0, std::ssize(model.graph().operators)};
  for (const std::size_t index : cuts) positions.push_back(model.split_points()[index].position);
  std::uint64_t smallest = ~std::uint64_t{0};
  std::uint64_t largest = 0;
  for (const std::int64_t position : positions) {
    PARETO_ASSIGN(const std::uint64_t bytes,
                  model::boundary_bytes(model.graph(), {{0, position}}, plan.batch));
    smallest = std::min(smallest, bytes);
    largest = std::max(largest, bytes);
  }
  std::vector<planning::ProbedTransport> probed;
  for (const std::string& name : names_in(links)) {
    PARETO_ASSIGN(auto one, probe_links(cluster, links, name, probe_sizes(smallest, largest), stop,
                                        progress));
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
