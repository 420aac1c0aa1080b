#include <algorithm>

#include "runtime/schedules/assignment.h"

namespace pareto::schedules {

Expected<Timetable> make_microbatch(const ScheduleRequest& request) {
  PARETO_ASSIGN(Timetable timetable, make_sequential(request));
  const std::size_t parts =
      std::min(request.workers, static_cast<std::size_t>(std::max<std::int64_t>(request.batch, 1)));
  if (!request.may_split || parts < 2 || timetable.units.empty()) return timetable;
  timetable.parts = parts;
  Phase phase;
  for (std::size_t part = 0; part < parts; ++part) phase.workers.push_back({{0, part}});
  timetable.phases = {std::move(phase)};
  return timetable;
}

}  // namespace pareto::schedules
