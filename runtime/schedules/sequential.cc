#include <numeric>

#include "runtime/schedules/assignment.h"

namespace pareto::schedules {

Expected<Timetable> make_sequential(const ScheduleRequest& request) {
  PARETO_TRY(check(request));
  std::vector<std::size_t> all(request.graph.nodes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Timetable timetable;
  add_shared_phase(request.graph, std::move(all), "all", timetable);
  return timetable;
}

}  // namespace pareto::schedules
