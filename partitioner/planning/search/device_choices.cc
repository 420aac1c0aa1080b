#include "partitioner/planning/search/device_choices.h"

#include <cmath>
#include <utility>

#include "partitioner/planning/search/point_front.h"

namespace pareto::search {

Expected<std::vector<Assignment>> assignments(std::size_t devices, std::size_t choices) {
  const double count = std::pow(static_cast<double>(choices), static_cast<double>(devices));
  if (count > static_cast<double>(kMostAssignments)) {
    return fail(ErrorCode::kExhausted, "{} choices on each of {} devices are {:.6g} combinations",
                choices, devices, count);
  }
  std::vector<Assignment> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    Assignment& assignment = all.emplace_back(devices);
    std::size_t rest = i;
    for (std::size_t device = devices; device-- > 0; rest /= choices) {
      assignment[device] = rest % choices;
    }
  }
  return all;
}

AssignedInputs::AssignedInputs(planning::CostInputs inputs, const DeviceChoices& choices)
    : inputs_(std::move(inputs)), choices_(choices), now_(inputs_.devices.size(), 0) {}

const planning::CostInputs& AssignedInputs::under(const Assignment& assignment) {
  for (std::size_t device = 0; device < now_.size(); ++device) {
    if (now_[device] == assignment[device]) continue;
    inputs_.devices[device] = choices_[assignment[device]][device];
    now_[device] = assignment[device];
  }
  return inputs_;
}

Expected<AssignedFront> search_assignments(const SearchStrategy& strategy, AssignedInputs& inputs,
                                           const std::vector<Assignment>& assignments,
                                           const SearchOptions& options) {
  PointFront front(options.windows, options.also);
  AssignedFront found;
  for (const Assignment& assignment : assignments) {
    PARETO_ASSIGN(std::vector<FrontPoint> points,
                  strategy.search(inputs.under(assignment), options));
    for (FrontPoint& one : points) {
      const planning::Values also = also_of(one.evaluation, options.also);
      if (!front.add(one.point, also, found.points.size())) continue;
      found.points.push_back(std::move(one));
      found.assignments.push_back(assignment);
    }
  }
  AssignedFront best;
  for (const PointFront::Entry& entry : front.entries()) {
    best.points.push_back(std::move(found.points[entry.witness]));
    best.assignments.push_back(std::move(found.assignments[entry.witness]));
  }
  return best;
}

}  // namespace pareto::search
