#include "partitioner/planning/outlook/outlook.h"

#include <algorithm>
#include <utility>

#include "partitioner/planning/search/point_front.h"

namespace pareto::planning {
namespace {

/// Returns the codec, and transport, that takes what crosses a position to the other end soonest.
int quickest_way(const CostInputs& inputs, int from, int to, int position) {
  const LinkCosts& link = inputs.link(from, to);
  const auto takes = [&](int codec) {
    return crossing_times(inputs, from, to, codec, 0, position).whole();
  };
  int best = 0;
  for (int codec = 1; codec < codec_count(link); ++codec) {
    if (takes(codec) < takes(best)) best = codec;
  }
  return best;
}

std::vector<Placement> placements_to_look_at(const CostInputs& inputs, bool pairs) {
  const int source = inputs.coordinator();
  const int end = inputs.positions();
  std::vector<Placement> all;
  for (int first = 0; first < inputs.coordinator(); ++first) {
    const int from_source = quickest_way(inputs, source, first, 0);
    for (int second = 0; pairs && second < inputs.coordinator(); ++second) {
      if (second == first) continue;
      const int to_sink = quickest_way(inputs, second, source, end);
      for (int cut = 1; cut < end; ++cut) {
        for (int way = 0; way < codec_count(inputs.link(first, second)); ++way) {
          all.push_back({{{first, 0, cut}, {second, cut, end}}, {from_source, way, to_sink}});
        }
      }
    }
  }
  for (int device = 0; device < inputs.coordinator(); ++device) {
    all.push_back(
        {{{device, 0, end}},
         {quickest_way(inputs, source, device, 0), quickest_way(inputs, device, source, end)}});
  }
  return all;
}

std::vector<Candidate> candidates(const CutSpace& space, const CostInputs& inputs,
                                  const std::vector<search::FrontPoint>& front,
                                  const OutlookWish& wish) {
  std::vector<Candidate> found;
  for (const Placement& placement : placements_to_look_at(inputs, wish.pairs)) {
    const auto evaluation = evaluate(inputs, placement);
    if (!evaluation) continue;  // not allowed, or no room
    Candidate candidate{space.plan_of(placement, inputs), *evaluation, {}};
    for (const auto& point : operating_points(*evaluation, {})) {
      candidate.points.push_back(
          {point, beaten_by(front, point, 0, search::also_at(*evaluation, wish.also, point))});
    }
    found.push_back(std::move(candidate));
  }
  return found;
}

}  // namespace

Expected<Outlook> look_ahead(const CutSpace& space, const CostInputs& inputs,
                             const OutlookWish& wish, std::string condition) {
  search::SearchOptions options;
  options.also = wish.also;
  options.replicas = wish.replicas;
  PARETO_ASSIGN(const auto front, wish.search->search(inputs, options));
  Outlook outlook;
  outlook.condition = std::move(condition);
  outlook.cut_anywhere = space.anywhere();
  for (const search::FrontPoint& one : front) {
    PlannedPoint planned{space.plan_of(one.placement, inputs, one.point.window), one.point,
                         one.evaluation};
    if (knows_jitter(inputs, one.placement)) {
      PARETO_ASSIGN(planned.with_jitter, replay(inputs, one.placement, one.point.window));
    }
    planned.placement = one.placement;
    outlook.front.push_back(std::move(planned));
  }
  outlook.chosen = choose_plan(front, wish.limits, wish.preference, wish.batch);
  outlook.candidates = candidates(space, inputs, front, wish);
  return outlook;
}

}  // namespace pareto::planning
