#include "client/planning/trial_links.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "client/cluster/codec_choice.h"
#include "client/cluster/daemon_client.h"
#include "client/cluster/transport_choice.h"
#include "client/planning/codec_prober.h"
#include "client/planning/cost_model.h"

namespace pareto::client {
namespace {

/// From where to where each link of a plan leads, the coordinator last of all; none: it has a device that the cluster has not.
std::vector<std::pair<std::size_t, std::size_t>> ends_of(const Plan& plan, const Cluster& cluster) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < cluster.size(); ++i) places[cluster.device(i).config().name] = i;
  std::vector<std::size_t> stages;
  for (const StagePlan& stage : plan.stages) {
    const auto place = places.find(stage.device);
    if (place == places.end()) return {};
    stages.push_back(place->second);
  }
  const auto place_of = [&](std::optional<std::size_t> stage) {
    return stage ? stages[*stage] : cluster.size();
  };
  std::vector<std::pair<std::size_t, std::size_t>> links;
  for (std::size_t link = 0; link < plan.links(); ++link) {
    const LinkEnds ends = plan.ends_of(link);
    links.emplace_back(place_of(ends.from), place_of(ends.to));
  }
  return links;
}

/// By name; only between devices is there another than "none".
std::string codec_of(const Plan& plan, const LinkEnds& ends) {
  return ends.from && ends.to && !plan.codecs.empty() ? plan.codecs[*ends.from] : "none";
}

/// Of those over that transport by that codec the quickest; none: there is none.
std::optional<int> way_over(const partitioner::LinkCosts& link, const std::string& transport,
                            const std::string& codec, std::int64_t allowed_loss, int position,
                            std::int64_t boundary_bytes) {
  std::optional<int> best;
  Nanoseconds shortest{};
  for (int way = 0; way < static_cast<int>(link.codecs.size()); ++way) {
    const partitioner::LinkCodec& one = link.codecs[static_cast<std::size_t>(way)];
    const bool fits = codec == kAutoCodec
                          ? partitioner::codec_loss(link, way, position) <= allowed_loss
                          : one.name == codec;
    if (one.transport != transport || !fits) continue;
    const Nanoseconds time = partitioner::link_times(link, way, position, boundary_bytes).whole();
    if (best && time >= shortest) continue;
    best = way;
    shortest = time;
  }
  return best;
}

}  // namespace

Expected<LinkTransports> transports_of(const std::vector<TrialRecord*>& trials,
                                       const Cluster& cluster) {
  const std::string nearest(kAutoTransport);
  PARETO_ASSIGN(const LinkTransports near, link_transports({nearest}, cluster));
  std::map<std::string, LinkTransports> possible;
  LinkTransports needed(near.size(), std::vector<std::vector<std::string>>(near.size()));
  for (const TrialRecord* trial : trials) {
    const auto links = ends_of(trial->plan, cluster);
    for (std::size_t link = 0; link < links.size(); ++link) {
      const auto [from, to] = links[link];
      const std::string& name = trial->plan.transport_of(link);
      if (!possible.contains(name)) {
        PARETO_ASSIGN(possible[name], link_transports({name, nearest}, cluster));
      }
      const auto& choice = possible[name][from][to];
      if (std::ranges::count(choice, name) == 0) continue;
      add_once(needed[from][to], name);
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

std::vector<std::string> codecs_of(const std::vector<TrialRecord*>& trials, double codec_error) {
  std::vector<std::string> names{"none"};
  for (const TrialRecord* trial : trials) {
    for (const std::string& codec : trial->plan.codecs) {
      if (codec != kAutoCodec) {
        add_once(names, codec);
        continue;
      }
      for (const std::string& name : codecs_losing(codec_error)) add_once(names, name);
    }
  }
  return names;
}

Expected<std::vector<int>> ways_of(const Plan& plan, const partitioner::Placement& placement,
                                   const partitioner::CostInputs& inputs, double codec_error) {
  const auto allowed_loss = static_cast<std::int64_t>(std::ceil(codec_error * kLossUnits));
  std::vector<int> ways;
  for (std::size_t link = 0; link < plan.links(); ++link) {
    const LinkEnds ends = plan.ends_of(link);
    const std::string codec = codec_of(plan, ends);
    const int position = ends.from ? placement.stages[*ends.from].end : 0;
    const auto way = way_over(
        inputs.link(device_at(ends.from, placement, inputs), device_at(ends.to, placement, inputs)),
        plan.transport_of(link), codec, allowed_loss, position, inputs.boundary(position));
    if (!way) {
      return fail(ErrorCode::kNotFound, "link {} was not probed over {} with codec {}", link,
                  plan.transport_of(link), codec);
    }
    ways.push_back(*way);
  }
  return ways;
}

}  // namespace pareto::client
