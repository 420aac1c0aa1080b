// The curve of a sweep over mixes.
#pragma once

#include <string>

#include "coordinator/tasks/task_report.h"

namespace pareto::report {

/// Draws how many times as fast the schedule is as each baseline, over the share of heavy tasks.
std::string task_curve_svg(const tasks::TaskSweep& sweep);

}  // namespace pareto::report
