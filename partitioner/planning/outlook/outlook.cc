#include "partitioner/planning/outlook/outlook.h"

#include <algorithm>
#include <initializer_list>
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

/// Returns whether each device but those has its first settings. Plans of those devices are looked
/// at under such an assignment only, and thus once.
bool others_have_first(const search::Assignment& assignment, std::initializer_list<int> devices) {
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    const bool is_theirs = std::ranges::find(devices, static_cast<int>(i)) != devices.end();
    if (!is_theirs && assignment[i] != 0) return false;
  }
  return true;
}

std::vector<Placement> placements_to_look_at(const CostInputs& inputs,
                                             const search::Assignment& assignment, bool pairs) {
  const int source = inputs.coordinator();
  const int end = inputs.positions();
  std::vector<Placement> all;
  for (int first = 0; first < inputs.coordinator(); ++first) {
    const int from_source = quickest_way(inputs, source, first, 0);
    for (int second = 0; pairs && second < inputs.coordinator(); ++second) {
      if (second == first || !others_have_first(assignment, {first, second})) continue;
      const int to_sink = quickest_way(inputs, second, source, end);
      for (int cut = 1; cut < end; ++cut) {
        for (int way = 0; way < codec_count(inputs.link(first, second)); ++way) {
          all.push_back({{{first, 0, cut}, {second, cut, end}}, {from_source, way, to_sink}});
        }
      }
    }
  }
  for (int device = 0; device < inputs.coordinator(); ++device) {
    if (!others_have_first(assignment, {device})) continue;
    all.push_back(
        {{{device, 0, end}},
         {quickest_way(inputs, source, device, 0), quickest_way(inputs, device, source, end)}});
  }
  return all;
}

/// Makes the outlook of one front.
///
/// Threads: one owner.
class OutlookMaker {
 public:
  OutlookMaker(const CutSpace& space, const SettingsCosts& costs, const OutlookOptions& options)
      : space_(space), costs_(costs), options_(options), inputs_(costs.inputs, costs.devices) {}

  Expected<Outlook> make(std::string condition) {
    PARETO_ASSIGN(const std::vector<search::Assignment> assignments,
                  search::assignments(costs_.inputs.devices.size(), costs_.settings.size()));
    search::SearchOptions options;
    options.also = options_.also;
    options.replicas = options_.replicas;
    PARETO_ASSIGN(const search::AssignedFront front,
                  search::search_assignments(*options_.search, inputs_, assignments, options));
    Outlook outlook;
    outlook.condition = std::move(condition);
    outlook.cut_anywhere = space_.anywhere();
    for (std::size_t i = 0; i < front.points.size(); ++i) {
      PARETO_ASSIGN(PlannedPoint planned, planned_of(front.points[i], front.assignments[i]));
      outlook.front.push_back(std::move(planned));
    }
    outlook.chosen =
        choose_plan(front.points, options_.limits, options_.preference, options_.batch);
    for (const search::Assignment& assignment : assignments) {
      add_candidates(assignment, front.points, outlook.candidates);
    }
    return outlook;
  }

 private:
  Expected<PlannedPoint> planned_of(const search::FrontPoint& one,
                                    const search::Assignment& assignment) {
    const CostInputs& inputs = inputs_.under(assignment);
    PlannedPoint planned{plan_of(one.placement, assignment, one.point.window), one.point,
                         one.evaluation};
    if (knows_jitter(inputs, one.placement)) {
      PARETO_ASSIGN(planned.with_jitter, replay(inputs, one.placement, one.point.window));
    }
    planned.placement = one.placement;
    planned.assignment = assignment;
    return planned;
  }

  plan::Plan plan_of(const Placement& placement, const search::Assignment& assignment, int window) {
    plan::Plan plan = space_.plan_of(placement, inputs_.under(assignment), window);
    costs_.set_settings(placement, assignment, plan);
    return plan;
  }

  void add_candidates(const search::Assignment& assignment,
                      const std::vector<search::FrontPoint>& front,
                      std::vector<Candidate>& candidates) {
    const CostInputs& inputs = inputs_.under(assignment);
    for (const Placement& placement : placements_to_look_at(inputs, assignment, options_.pairs)) {
      const auto evaluation = evaluate(inputs, placement);
      if (!evaluation) continue;  // not allowed, or no room
      Candidate candidate{plan_of(placement, assignment, 0), *evaluation, {}};
      for (const auto& point : operating_points(*evaluation, {})) {
        candidate.points.push_back(
            {point,
             beaten_by(front, point, 0, search::also_at(*evaluation, options_.also, point))});
      }
      candidates.push_back(std::move(candidate));
    }
  }

  const CutSpace& space_;
  const SettingsCosts& costs_;
  const OutlookOptions& options_;
  search::AssignedInputs inputs_;
};

}  // namespace

Expected<Outlook> look_ahead(const CutSpace& space, const SettingsCosts& costs,
                             const OutlookOptions& options, std::string condition) {
  return OutlookMaker(space, costs, options).make(std::move(condition));
}

}  // namespace pareto::planning
