#include "coordinator/failover/replanner.h"

#include <algorithm>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/profile/known_devices.h"
#include "coordinator/profile/link_prober.h"
#include "coordinator/profile/link_transports.h"
#include "partitioner/model/graph/split_points.h"
#include "partitioner/planning/inputs/cut_space.h"
#include "partitioner/planning/outlook/choose.h"
#include "partitioner/planning/search/search_strategy.h"

namespace pareto::failover {
namespace {

using Kept = std::vector<std::size_t>;

/// Returns the rows and columns of those devices, and of the coordinator, which is the last one.
template <typename T>
std::vector<std::vector<T>> among(const std::vector<std::vector<T>>& links, Kept kept) {
  kept.push_back(links.size() - 1);
  std::vector<std::vector<T>> left;
  for (const std::size_t from : kept) {
    std::vector<T>& row = left.emplace_back();
    for (const std::size_t to : kept) row.push_back(links[from][to]);
  }
  return left;
}

/// Adds the split points at which a plan cuts, so that it can be predicted.
void add_cuts_of(const plan::Plan& plan, const model::Model& model, planning::SplitChoice& cuts) {
  for (const plan::StagePlan& stage : plan.stages) {
    const auto& points = model.split_points();
    const auto at = std::ranges::find(points, stage.begin, &model::SplitPoint::position);
    if (stage.begin == 0 || at == points.end() || !at->legal) continue;
    const auto index = static_cast<std::size_t>(at - points.begin());
    const auto place = std::ranges::lower_bound(cuts, index);
    if (place == cuts.end() || *place != index) cuts.insert(place, index);
  }
}

std::vector<std::string> transports_of(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plan.links(); ++i) profile::add_once(names, plan.transport_of(i));
  return names;
}

}  // namespace

Expected<Replanner> Replanner::make(const model::Model& model, const cluster::Cluster& cluster,
                                    const plan::Plan& plan, results::ResultStore& store,
                                    const std::atomic<bool>& stop, const Progress& progress) {
  plan::Plan blank = cluster::plan_with({plan.settings, plan.batch});
  blank.model = plan.model;
  blank.micro_batch = plan.micro_batch;
  Replanner made(model, std::move(blank));
  PARETO_ASSIGN(auto known, profile::known_devices(model, cluster, plan, store));
  Kept kept;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i]) {
      made.devices_.push_back(*std::move(known[i]));
      kept.push_back(i);
    } else {
      made.unknown_.push_back(cluster.device(i).config().name);
    }
  }
  if (kept.size() < 2) {
    const auto missing = std::ranges::find_if(known, [](const auto& one) { return !one; });
    const auto index = static_cast<std::size_t>(missing - known.begin());
    if (missing == known.end()) {
      return fail(ErrorCode::kNotFound, "there is no second device that could take over");
    }
    return tl::unexpected(profile::not_profiled(cluster.device(index), model, plan));
  }
  PARETO_ASSIGN(profile::LinkTransports ways,
                profile::link_transports(transports_of(plan), cluster));
  // Nothing is sent through devices that cannot take over.
  for (std::size_t from = 0; from < ways.size(); ++from) {
    for (std::size_t to = 0; to < ways.size(); ++to) {
      const bool is_kept = (from == cluster.size() || known[from].has_value()) &&
                           (to == cluster.size() || known[to].has_value());
      if (!is_kept) ways[from][to].clear();
    }
  }
  PARETO_ASSIGN(made.cuts_, model::select_split_points(model, "modules"));
  add_cuts_of(plan, model, made.cuts_);
  PARETO_ASSIGN(const auto sizes, profile::sizes_to_probe(model, made.cuts_, {plan.batch}));
  for (const std::string& name : profile::names_in(ways)) {
    PARETO_ASSIGN(const planning::ProbedLinks links,
                  profile::probe_links(cluster, ways, name, sizes, stop, progress));
    made.links_.push_back({name, among(links, kept)});
  }
  return made;
}

std::vector<std::string> Replanner::devices() const {
  std::vector<std::string> names;
  for (const planning::DeviceFacts& device : devices_) names.push_back(device.profile.device);
  return names;
}

Expected<Replanner::Left> Replanner::left(const std::vector<planning::ProbedTransport>& links,
                                          const std::set<std::string>& lost) const {
  Kept kept;
  Left left;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (lost.contains(devices_[i].profile.device)) continue;
    kept.push_back(i);
    left.devices.push_back(devices_[i]);
  }
  if (left.devices.empty()) {
    return fail(ErrorCode::kNotFound, "no device is left that was profiled for {}", blank_.model);
  }
  for (const planning::ProbedTransport& one : links) {
    left.links.push_back({one.name, among(one.links, kept)});
  }
  return left;
}

Expected<plan::Plan> Replanner::without(const std::set<std::string>& lost) const {
  PARETO_ASSIGN(Forecast forecast, best(links_, {}, lost));
  forecast.plan.window = 0;
  return std::move(forecast.plan);
}

Expected<Replanner::Forecast> Replanner::best(const std::vector<planning::ProbedTransport>& links,
                                              planning::Preference preference,
                                              const std::set<std::string>& lost) const {
  PARETO_ASSIGN(Left left, this->left(links, lost));
  const auto space = planning::make_cut_space(*model_, {}, cuts_, std::move(left.devices), blank_);
  PARETO_ASSIGN(const planning::CostInputs inputs, space->inputs(left.links));
  PARETO_ASSIGN(const std::vector<search::FrontPoint> front,
                search::builtin_searches().front()->search(inputs, {}));
  const auto chosen = planning::choose_plan(front, {}, preference, blank_.batch);
  if (!chosen) {
    return fail(ErrorCode::kNotFound, "the devices that are left have no room for {}",
                blank_.model);
  }
  const search::FrontPoint& point = front[*chosen];
  return Forecast{space->plan_of(point.placement, inputs, point.point.window), point.point};
}

Expected<Replanner::Forecast> Replanner::predict(
    const plan::Plan& plan, const std::vector<planning::ProbedTransport>& links) const {
  const auto space = planning::make_cut_space(*model_, {}, cuts_, devices_, blank_);
  PARETO_ASSIGN(const planning::CostInputs inputs, space->inputs(links));
  PARETO_ASSIGN(planning::Placement placement, space->placement_of(plan));
  placement.replicated = plan.replicated;
  PARETO_ASSIGN(const planning::Evaluation evaluation, planning::evaluate(inputs, placement));
  return Forecast{plan, planning::at_window(evaluation, plan.window)};
}

}  // namespace pareto::failover
