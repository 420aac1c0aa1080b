// How a shard's operators are put to work on a device. A plug: one file that implements a schedule,
// one line in builtin_schedules.cc; judged by giving the same bits as "sequential" does with the
// same engine. Free of LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "runtime/schedules/timetable.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::schedules {

/// The graph and the device that a schedule is made for.
struct ScheduleRequest {
  WeightedGraph graph{};    ///< with measured costs in nanoseconds
  std::size_t workers = 1;  ///< workers that may run at a time; more than cores are allowed
  std::int64_t batch = 1;   ///< samples of a request
  bool may_split = false;   ///< whether samples of a batch may be computed apart
  double hand_off = 5000;   ///< cost of handing a value to another worker, in nanoseconds
  std::string program{};    ///< JSON text of a user's program; empty for all other schedules
  bool partial = false;     ///< whether it is a part of a model: a program's rule may match nothing
};

/// One schedule.
struct ScheduleEntry {
  std::string name;   ///< "clusters"
  std::string about;  ///< one sentence for --help
  /// Makes the timetable for a graph and its costs. Fails: kInvalidArgument (a program that does
  /// not fit the graph).
  Expected<Timetable> (*make)(const ScheduleRequest& request);
};

/// Returns "sequential" first: the reference of all others.
const std::vector<ScheduleEntry>& builtin_schedules();
/// Returns their names, in the same order.
const std::vector<std::string>& schedule_names();

Expected<Timetable> make_sequential(const ScheduleRequest& request);
Expected<Timetable> make_clusters(const ScheduleRequest& request);
Expected<Timetable> make_mixed(const ScheduleRequest& request);
Expected<Timetable> make_microbatch(const ScheduleRequest& request);
Expected<Timetable> make_program(const ScheduleRequest& request);

}  // namespace pareto::schedules
