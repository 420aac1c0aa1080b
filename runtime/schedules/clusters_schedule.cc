#include <numeric>

#include "runtime/schedules/assignment.h"

namespace pareto::schedules {

Expected<Timetable> make_clusters(const ScheduleRequest& request) {
  PARETO_TRY(check(request));
  std::vector<std::size_t> all(request.graph.nodes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Assignment clusters =
      assign_clusters(request.graph, all, request.workers, request.hand_off);
  Timetable timetable;
  if (clusters.workers.size() == 1) {
    add_shared_phase(request.graph, clusters.workers[0], "cluster 1", timetable);
    return timetable;
  }
  const auto name = [](std::size_t worker, std::size_t piece) {
    return fmt::format("cluster {}.{}", worker + 1, piece + 1);
  };
  add_phase(request.graph, clusters, name, timetable);
  return timetable;
}

}  // namespace pareto::schedules
