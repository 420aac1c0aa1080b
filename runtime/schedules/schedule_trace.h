// What a schedule did on this machine: its units, who ran them when, and what it gained. Free of
// LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/clock.h"
#include "runtime/schedules/timetable.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::schedules {

/// One turn of a worker, in one measured run.
struct TurnTime {
  std::size_t worker;
  std::size_t unit;
  std::size_t part;   ///< micro-batch
  Nanoseconds begin;  ///< since the run began
  Nanoseconds end;
};

/// One run of a schedule, with the times that it is compared with.
struct ScheduleTrace {
  WeightedGraph graph;           ///< operators that were run, with measured costs
  Timetable timetable;           ///< what was run
  std::vector<TurnTime> turns;   ///< of the run whose time is the median
  Nanoseconds measured{};        ///< median time of a run
  Nanoseconds sequential_one{};  ///< the same, one operator after the other on one thread
  Nanoseconds sequential_all{};  ///< the same, with all threads of the shard
  double predicted = 0;          ///< time by the graph's costs, in nanoseconds
  std::uint64_t peak_bytes = 0;  ///< most bytes of values alive at one time
};

}  // namespace pareto::schedules
