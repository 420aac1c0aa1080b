#include "coordinator/sweep/trial_links.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/profile/codec_prober.h"
#include "partitioner/planning/inputs/cost_model.h"

namespace pareto::sweep {
namespace {

/// Returns the two ends of each link of a plan; the coordinator is the last place. Empty if the
/// plan has a device that the cluster lacks.
std::vector<std::pair<std::size_t, std::size_t>> ends_of(const plan::Plan& plan,
                                                         const cluster::Cluster& cluster) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < cluster.size(); ++i) places[cluster.device(i).config().name] = i;
  std::vector<std::size_t> stages;
  for (const plan::StagePlan& stage : plan.stages) {
    const auto place = places.find(stage.device);
    if (place == places.end()) return {};
    stages.push_back(place->second);
  }
  const auto place_of = [&](std::optional<std::size_t> stage) {
    return stage ? stages[*stage] : cluster.size();
  };
  std::vector<std::pair<std::size_t, std::size_t>> links;
  for (std::size_t link = 0; link < plan.links(); ++link) {
    const plan::LinkEnds ends = plan.ends_of(link);
    links.emplace_back(place_of(ends.from), place_of(ends.to));
  }
  return links;
}

/// Returns the codec's name. Only links between devices have another than "none".
std::string codec_of(const plan::Plan& plan, const plan::LinkEnds& ends) {
  return ends.from && ends.to && !plan.codecs.empty() ? plan.codecs[*ends.from] : "none";
}

/// Returns the quickest way over that transport with that codec. No value means that there is none.
std::optional<int> way_over(const planning::LinkCosts& link, const std::string& transport,
                            const std::string& codec, std::int64_t allowed_loss, int position,
                            std::int64_t boundary_bytes) {
  std::optional<int> best;
  Nanoseconds shortest{};
  for (int way = 0; way < static_cast<int>(link.codecs.size()); ++way) {
    const planning::LinkCodec& one = link.codecs[static_cast<std::size_t>(way)];
    const bool fits = codec == cluster::kAutoCodec
                          ? planning::codec_figures(link, way, position).loss <= allowed_loss
                          : one.name == codec;
    if (one.transport != transport || !fits) continue;
    const Nanoseconds time = planning::link_times(link, way, position, boundary_bytes).whole();
    if (best && time >= shortest) continue;
    best = way;
    shortest = time;
  }
  return best;
}

}  // namespace

Expected<profile::LinkTransports> transports_of(const std::vector<results::TrialRecord*>& trials,
                                                const cluster::Cluster& cluster) {
  const std::string nearest(cluster::kAutoTransport);
  PARETO_ASSIGN(const profile::LinkTransports near, profile::link_transports({nearest}, cluster));
  std::map<std::string, profile::LinkTransports> possible;
  profile::LinkTransports needed(near.size(), std::vector<std::vector<std::string>>(near.size()));
  for (const results::TrialRecord* trial : trials) {
    const auto links = ends_of(trial->plan, cluster);
    for (std::size_t link = 0; link < links.size(); ++link) {
      const auto [from, to] = links[link];
      const std::string& name = trial->plan.transport_of(link);
      if (!possible.contains(name)) {
        PARETO_ASSIGN(possible[name], profile::link_transports({name, nearest}, cluster));
      }
      const auto& choice = possible[name][from][to];
      if (std::ranges::count(choice, name) == 0) continue;
      profile::add_once(needed[from][to], name);
    }
  }
  const std::size_t coordinator = cluster.size();
  for (std::size_t device = 0; device < coordinator; ++device) {
    for (const auto& [from, to] :
         {std::pair(coordinator, device), std::pair(device, coordinator)}) {
      if (needed[from][to].empty()) needed[from][to] = near[from][to];
    }
  }
  return needed;
}

std::vector<std::string> codecs_of(const std::vector<results::TrialRecord*>& trials,
                                   double codec_error) {
  std::vector<std::string> names{"none"};
  for (const results::TrialRecord* trial : trials) {
    for (const std::string& codec : trial->plan.codecs) {
      if (codec != cluster::kAutoCodec) {
        profile::add_once(names, codec);
        continue;
      }
      for (const std::string& name : cluster::codecs_losing(codec_error))
        profile::add_once(names, name);
    }
  }
  return names;
}

Expected<std::vector<int>> ways_of(const plan::Plan& plan, const planning::Placement& placement,
                                   const planning::CostInputs& inputs, double codec_error) {
  const auto allowed_loss =
      static_cast<std::int64_t>(std::ceil(codec_error * planning::kLossUnits));
  std::vector<int> ways;
  for (std::size_t link = 0; link < plan.links(); ++link) {
    const plan::LinkEnds ends = plan.ends_of(link);
    const std::string codec = codec_of(plan, ends);
    const int position = ends.from ? placement.stages[*ends.from].end : 0;
    const auto way =
        way_over(inputs.link(planning::device_at(ends.from, placement, inputs),
                             planning::device_at(ends.to, placement, inputs)),
                 plan.transport_of(link), codec, allowed_loss, position, inputs.boundary(position));
    if (!way) {
      return fail(ErrorCode::kNotFound, "link {} was not probed over {} with codec {}", link,
                  plan.transport_of(link), codec);
    }
    ways.push_back(*way);
  }
  return ways;
}

}  // namespace pareto::sweep
