// A timetable says what each worker of a device runs for one request, and in which order. Made by a
// schedule, run by runtime/execution. Free of LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::schedules {

/// Operators that are compiled and run as one. What one of them makes is free for others when all
/// of them have run.
struct Unit {
  std::vector<std::size_t> operators{};  ///< numbers in the graph, ascending
  std::string name{};                    ///< for people: "features.3", "cluster 2"
  std::vector<std::string> tags{};       ///< "compute", "memory", "network", or a user's own
  bool whole = false;  ///< with several parts: it has one turn, of part 0, on the whole batch
};

/// One run of a unit on one part of the batch.
struct Turn {
  std::size_t unit = 0;
  std::size_t part = 0;
  bool operator==(const Turn&) const = default;
};

/// The turns between two meetings of all workers. Each worker takes its turns in order, and waits
/// before a turn until the units have run that it needs. If there is one worker, its operators may
/// use all threads of the shard.
struct Phase {
  std::vector<std::vector<Turn>> workers{};
  bool all_threads = false;  ///< one worker, whose operators share all threads
};

struct Timetable {
  std::vector<Unit> units{};
  std::size_t parts = 1;  ///< micro-batches of a request, as equal as they can be
  std::vector<Phase> phases{};

  /// Returns the largest number of workers of a phase.
  std::size_t workers() const;
};

/// Checks that a timetable runs a graph: each operator is in one unit, each unit has one turn a
/// part (a whole one has one), all numbers exist, and no worker waits for ever. A whole unit waits
/// for all parts of what it needs.
/// Fails: kInvalidArgument, with the unit and the operators concerned.
Expected<> check(const Timetable& timetable, const WeightedGraph& graph);

/// Returns the units that each unit waits for, ascending; of a checked timetable.
std::vector<std::vector<std::size_t>> unit_dependencies(const Timetable& timetable,
                                                        const WeightedGraph& graph);

/// Returns how long a timetable takes by the graph's costs, if a value that crosses from one worker
/// to another takes `hand_off`. Unit: that of the costs. Of a checked timetable. In a timetable of
/// several parts a part costs its share of the operators' time.
double makespan(const Timetable& timetable, const WeightedGraph& graph, double hand_off);

/// Returns the most bytes of values that are alive at one time, if every operator of a checked
/// timetable takes its cost.
std::uint64_t peak_bytes(const Timetable& timetable, const WeightedGraph& graph);

}  // namespace pareto::schedules
