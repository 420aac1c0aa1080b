#include "partitioner/planning/search/replicas.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "partitioner/planning/cost/plan_values.h"
#include "partitioner/planning/search/media_roles.h"

namespace pareto::search {
namespace {

constexpr std::size_t kMostTurns = 1U << 12;
/// Place of the other objectives among a turn's costs.
constexpr std::size_t kAlso = 2;

/// A turn: devices that take requests in turns, and what they are judged by. Among turns of as many
/// devices, those with smaller costs are better with any others that join them.
struct Turn {
  std::vector<std::int64_t>
      costs;  ///< latency, bottleneck, other objectives, loads of several devices' media
  planning::Placement placement;
};

bool as_good(const Turn& a, const Turn& b) {
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    if (a.costs[i] > b.costs[i]) return false;
  }
  return true;
}

/// Among others of as many devices, if none of them is as good.
void keep(Turn turn, std::vector<Turn>& turns) {
  if (std::ranges::any_of(turns, [&](const Turn& one) { return as_good(one, turn); })) return;
  std::erase_if(turns, [&](const Turn& one) { return as_good(turn, one); });
  turns.push_back(std::move(turn));
}

Turn joined(const Turn& turn, const Turn& one, const AlsoObjectives& also) {
  Turn more = turn;
  for (std::size_t i = 0; i < more.costs.size(); ++i) {
    planning::Combine how = i < kAlso ? planning::Combine::kMaximum : planning::Combine::kSum;
    if (i >= kAlso && i < kAlso + also.size()) how = also[i - kAlso]->searched->replicas;
    more.costs[i] = planning::combined(how, turn.costs[i], one.costs[i]);
  }
  const planning::Placement& added = one.placement;
  more.placement.stages.push_back(added.stages.front());
  more.placement.codecs.insert(more.placement.codecs.end(), added.codecs.begin(),
                               added.codecs.end());
  return more;
}

/// Returns a device by itself, by those codecs of its two links that are worth taking; empty: it
/// cannot run the whole model.
std::vector<Turn> ways_of(int device, const planning::CostInputs& inputs, const MediaRoles& media,
                          const AlsoObjectives& also) {
  const int source = inputs.coordinator();
  const int end = inputs.positions();
  std::vector<Turn> ways;
  for (int there = 0; there < planning::codec_count(inputs.link(source, device)); ++there) {
    for (int back = 0; back < planning::codec_count(inputs.link(device, source)); ++back) {
      Turn way{{}, {{{device, 0, end}}, {there, back}, true}};
      const auto alone = planning::evaluate(inputs, way.placement);
      if (!alone) continue;
      way.costs = {alone->latency.count(), alone->bottleneck.count()};
      for (const planning::Objective* const one : also) way.costs.push_back(alone->value(*one));
      const std::size_t first_medium = way.costs.size();
      way.costs.resize(first_medium + static_cast<std::size_t>(media.of_several));
      const auto occupy = [&](int from, int to, int codec, int position) {
        const planning::LinkTimes times =
            planning::crossing_times(inputs, from, to, codec, 0, position);
        for (const MediumRole& role : media.link(from, to)) {
          if (role.of != MediumRole::Of::kSeveral) continue;  // in its bottleneck
          way.costs[first_medium + static_cast<std::size_t>(role.number)] +=
              role.time(times.occupancy).count();
        }
      };
      occupy(source, device, there, 0);
      occupy(device, source, back, end);
      keep(std::move(way), ways);
    }
  }
  return ways;
}

}  // namespace

Expected<> add_replicas(const planning::CostInputs& inputs, const SearchOptions& options,
                        PointFront& front, std::vector<planning::Placement>& witnesses) {
  if (!options.replicas) return {};
  std::vector<std::vector<Turn>> turns(inputs.devices.size() + 1);  // by how many devices there are
  const MediaRoles media = media_roles(inputs);
  const std::size_t costs =
      kAlso + options.also.size() + static_cast<std::size_t>(media.of_several);
  turns.front() = {{std::vector<std::int64_t>(costs, 0), {{}, {}, true}}};
  for (int device = 0; device < inputs.coordinator(); ++device) {
    const std::vector<Turn> ways = ways_of(device, inputs, media, options.also);
    for (std::size_t count = static_cast<std::size_t>(device) + 1; count > 0; --count) {
      for (const Turn& turn : turns[count - 1]) {
        for (const Turn& way : ways) keep(joined(turn, way, options.also), turns[count]);
      }
      if (turns[count].size() > kMostTurns) {
        return fail(ErrorCode::kExhausted,
                    "{} devices may take turns with the whole model in too many ways to try all: "
                    "leave devices out, choose from fewer transports and codecs, or plan without "
                    "replicas (--no-replicas)",
                    inputs.devices.size());
      }
    }
  }
  for (std::size_t count = 2; count < turns.size(); ++count) {
    for (Turn& turn : turns[count]) {
      add_placement(inputs, options, std::move(turn.placement), front, witnesses);
    }
  }
  return {};
}

}  // namespace pareto::search
