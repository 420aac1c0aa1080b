// Searches plans whose devices each have a choice of how they run their stages, such as numbers of
// threads and schedules. Each choice has costs of its own. A device runs all its stages by one.
//
//   CostInputs + costs of every device by every choice
//       ──search of each assignment of choices to devices──▶ one front
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/search/search_strategy.h"

namespace pareto::search {

/// The costs of the devices by each choice: choices[choice][device]. All of a device differ in
/// nothing but times and room.
using DeviceChoices = std::vector<std::vector<planning::DeviceCosts>>;
/// The choice of each device, in the order of the devices.
using Assignment = std::vector<std::size_t>;

/// Most assignments that are searched: each is a search of its own.
inline constexpr std::size_t kMostAssignments = 256;

/// Returns every assignment. The first has the first choice everywhere; from one to the next the
/// last device changes first. Fails: kExhausted (more than kMostAssignments, with the number).
Expected<std::vector<Assignment>> assignments(std::size_t devices, std::size_t choices);

/// The inputs of one assignment after the other. Only the devices whose choice changes are copied.
///
/// Threads: one owner. The choices outlive it.
class AssignedInputs {
 public:
  /// `inputs` have the devices of the first choice.
  AssignedInputs(planning::CostInputs inputs, const DeviceChoices& choices);

  /// Returns the inputs under an assignment, until the next call.
  const planning::CostInputs& under(const Assignment& assignment);

 private:
  planning::CostInputs inputs_;
  const DeviceChoices& choices_;
  Assignment now_;
};

/// The front of all assignments.
struct AssignedFront {
  std::vector<FrontPoint> points;  ///< points in the order of SearchStrategy::search()
  /// Assignment of each point. Of points that are equal the one of the earliest assignment is kept.
  std::vector<Assignment> assignments;
};

/// Searches each of the assignments and returns the points that no other point beats. Fails: as the
/// search does.
Expected<AssignedFront> search_assignments(const SearchStrategy& strategy, AssignedInputs& inputs,
                                           const std::vector<Assignment>& assignments,
                                           const SearchOptions& options);

}  // namespace pareto::search
