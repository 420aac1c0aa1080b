#include "client/planning/planner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "client/cluster/deployment.h"
#include "client/cluster/network.h"
#include "client/planning/condition_links.h"
#include "partitioner/graph/split_points.h"

namespace pareto::client {

SplitChoice spread_by_work(const std::vector<partitioner::SplitPoint>& points,
                           const SplitChoice& splits, std::size_t count) {
  if (count == 0 || splits.size() <= count) return splits;
  if (count == 1) return {splits[splits.size() / 2]};
  const auto work = [&](std::size_t index) { return points[index].flops_before; };
  const double first = work(splits.front());
  const double last = work(splits.back());
  SplitChoice chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted =
        first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1);
    const auto next = std::ranges::lower_bound(splits, wanted, {}, work);
    const std::size_t index = next == splits.end() ? splits.back() : *next;
    if (chosen.empty() || chosen.back() < index) chosen.push_back(index);
  }
  if (chosen.back() != splits.back()) chosen.push_back(splits.back());
  return chosen;
}

ProfileWish Planner::wish() const {
  ProfileWish wish;
  wish.model = model_.name();
  wish.model_digest = model_.digest().hex();
  wish.operators = static_cast<std::int64_t>(model_.graph().operators.size());
  for (const std::size_t index :
       spread_by_work(model_.split_points(), splits_, options_.measured_cuts)) {
    wish.cuts.push_back(model_.split_points()[index].position);
  }
  wish.settings = options_.settings;
  wish.seed = options_.seed;
  return wish;
}

void Planner::cut_in_order(std::string why) { cuts_ = {std::nullopt, std::move(why)}; }

Expected<> Planner::profile(const LinkTransports& transports, Workload& workload,
                            const Progress& progress) {
  PARETO_ASSIGN(splits_, partitioner::select_split_points(model_, options_.splits));
  PARETO_ASSIGN(cuts_, choose_cuts(model_, options_.settings.batch, options_.cuts));
  const ProfileWish wish = this->wish();
  std::vector<std::optional<DeviceProfile>> known(cluster_.size());
  devices_.assign(cluster_.size(), {});
  measured_now_ = false;
  for (std::size_t i = 0; i < cluster_.size(); ++i) {
    if (!options_.fresh) {
      PARETO_ASSIGN(known[i], store_.find_profile(profile_key(cluster_, cluster_.device(i), wish)));
    }
    measured_now_ = measured_now_ || !known[i] || !is_enough(*known[i], wish);
    if (known[i]) devices_[i].profile = *known[i];
    devices_[i].memory_limit_bytes = cluster_.device(i).info().memory_limit_bytes;
    devices_[i].milliwatts = cluster_.device(i).config().milliwatts;
    devices_[i].medium = cluster_.device(i).config().medium;
  }
  if (!measured_now_) return {};
  PARETO_TRY(store_.check_writable());
  PARETO_ASSIGN(const std::vector<ProbedTransport> probed,
                probe(transports, resting_condition(cluster_.network()), progress));
  PARETO_ASSIGN(std::vector<Value> inputs,
                workload.example(options_.settings.batch, options_.seed));
  TransportSet own;
  const ProfileBench bench{cluster_,        pool_, own, probed, Value{Tuple{std::move(inputs)}},
                           options_.timeout};
  const std::string devices = cluster_.size() == 1 ? cluster_.device(0).config().name
                                                   : fmt::format("{} devices", cluster_.size());
  const std::string now =
      fmt::format("profiling {}, {}", devices, settings_text(options_.settings));
  progress(now, 0, kProfilePasses * wish.cuts.size());
  PARETO_ASSIGN(std::vector<DeviceProfile> profiles,
                profile_devices(bench, wish, known, stop_, [&](const ProfileProgress& at) {
                  progress(at.disturbed ? now + ", timed again: this machine is disturbed" : now,
                           at.done, at.total);
                }));
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    PARETO_TRY(store_.put_profile(profile_key(profiles[i]), profiles[i]));
    devices_[i].profile = std::move(profiles[i]);
  }
  return {};
}

Expected<std::vector<ProbedTransport>> Planner::probe(const LinkTransports& transports,
                                                      const std::string& condition,
                                                      const Progress& progress) {
  PARETO_TRY(apply_condition(cluster_.network(), condition));
  const std::pair asked(condition, transports);
  if (const auto known = probed_.find(asked); known != probed_.end()) return known->second;
  PARETO_ASSIGN(auto probed,
                with_context(probe_now(transports, progress), "network {}", condition));
  return probed_[asked] = std::move(probed);
}

Expected<std::vector<ProbedTransport>> Planner::probe_at_rest(const LinkTransports& transports,
                                                              const Condition& definition,
                                                              const Progress& progress) {
  PARETO_ASSIGN(auto links, probe(transports, resting_condition(cluster_.network()), progress));
  for (ProbedTransport& transport : links) {
    PARETO_ASSIGN(transport.links, under_condition(transport.links, definition));
  }
  return links;
}

Expected<std::vector<ProbedTransport>> Planner::probe_now(const LinkTransports& transports,
                                                          const Progress& progress) const {
  const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
  std::vector<std::int64_t> positions{0, operators};
  for (const std::size_t index : splits_) {
    positions.push_back(model_.split_points()[index].position);
  }
  std::vector<std::int64_t> batches = options_.probed_batches;
  batches.push_back(options_.settings.batch);
  const auto [fewest, most] = std::ranges::minmax(batches);
  std::uint64_t smallest = ~std::uint64_t{0};
  std::uint64_t largest = 0;
  for (const std::int64_t position : positions) {
    PARETO_ASSIGN(const std::uint64_t of_fewest,
                  partitioner::boundary_bytes(model_.graph(), position, fewest));
    PARETO_ASSIGN(const std::uint64_t of_most,
                  partitioner::boundary_bytes(model_.graph(), position, most));
    smallest = std::min(smallest, of_fewest);
    largest = std::max(largest, of_most);
  }
  const std::vector<std::string> names = names_in(transports);
  // Between each two devices, and both ways at once between each and the coordinator.
  const std::size_t total = names.size() * cluster_.size() * cluster_.size();
  std::size_t done = 0;
  std::vector<ProbedTransport> probed;
  for (const std::string& name : names) {
    PARETO_ASSIGN(
        auto links,
        probe_links(cluster_, transports, name, probe_sizes(smallest, largest), stop_,
                    [&](const std::string& now) { progress("probing " + now, done++, total); }));
    probed.push_back({name, std::move(links)});
  }
  return probed;
}

Expected<ProbedCodecs> Planner::probe_codecs(const std::vector<std::string>& codecs,
                                             double allowed_error, Workload& workload,
                                             const Progress& progress) const {
  CodecWish wish;
  wish.codecs = codecs;
  wish.allowed_error = allowed_error;
  for (const std::size_t index :
       spread_by_work(model_.split_points(), splits_, options_.measured_cuts)) {
    wish.positions.push_back(model_.split_points()[index].position);
  }
  wish.batch = options_.settings.batch;
  wish.seed = options_.seed;
  return client::probe_codecs(
      cluster_, workload, wish, stop_,
      [&](std::size_t done, std::size_t total) { progress("measuring codecs", done, total); });
}

Expected<partitioner::CostInputs> Planner::cost_inputs(
    const std::vector<ProbedTransport>& transports, const ProbedCodecs& codecs) const {
  if (cuts_.ideals) {
    return make_ideal_cost_inputs(model_, *cuts_.ideals, options_.settings.batch, devices_,
                                  transports, codecs);
  }
  return make_cost_inputs(model_, splits_, options_.settings.batch, devices_, transports, codecs);
}

Plan Planner::plan_of(const partitioner::Placement& placement,
                      const partitioner::CostInputs& inputs, int window) const {
  Plan plan = plan_with(options_.settings);
  plan.model = model_.name();
  plan.window = window;
  if (cuts_.ideals) {
    place_ideals(model_, *cuts_.ideals, devices_, placement, plan);
  } else {
    place(model_, splits_, devices_, placement, plan);
  }
  choose_links(inputs, placement, plan);
  return plan;
}

Expected<partitioner::Placement> Planner::placement_of(const Plan& plan) const {
  if (cuts_.ideals) return placement_among(plan, *cuts_.ideals, devices_);
  return client::placement_of(plan, model_, splits_, devices_);
}

}  // namespace pareto::client
