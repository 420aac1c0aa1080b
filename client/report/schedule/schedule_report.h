// A schedule that was run on this machine, as it is shown: its graph, its units, its workers, and
// what it gained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "runtime/schedules/schedule_trace.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::report::schedule {

/// Figures of an operator graph that say how much of it can run at a time.
struct GraphFacts {
  std::size_t nodes = 0;
  std::size_t clusters = 0;  ///< linear clusters (runtime/schedules/clusters.h)
  std::size_t merged = 0;    ///< those that are left after merging
  double total = 0;          ///< cost of all nodes
  double critical_path = 0;  ///< cost of the longest way
  /// Returns the speed-up that no number of workers exceeds; 1 if nothing has a cost.
  double bound() const { return critical_path > 0 ? total / critical_path : 1; }
};
/// Hand-offs are free in it.
GraphFacts facts_of(const schedules::WeightedGraph& graph);

struct ScheduleReport {
  std::string model;
  std::string schedule;  ///< title of the one that was kept
  std::string reason{};  ///< why it is not the one asked for, or was chosen; or empty
  std::string engine;
  std::string precision;
  int threads = 1;                          ///< threads of the shard, and the most workers
  std::vector<std::string> worker_names{};  ///< "pi", by worker; empty: their numbers say enough

  /// Returns "pi", or "worker 0" if it has no name.
  std::string worker_name(std::size_t worker) const;
  std::int64_t batch = 1;
  /// Facts of the model as calls of modules and functions; no value: it is not made of calls.
  std::optional<GraphFacts> calls{};
  schedules::ScheduleTrace trace;  ///< its turns are of units that there are
  bool from_zero = false;          ///< time counts from 0, not from the first turn's begin

  /// Returns how many times as fast it is as that time; 0 if that was not measured.
  double gain_over(Nanoseconds time) const;
  /// Returns the moment from which time counts.
  Nanoseconds begin() const;
  /// Returns the time from begin() to the last turn's end.
  Nanoseconds span() const;
};

/// Returns for each of a run's turns whether its operators share all threads.
std::vector<bool> shared_turns(const schedules::ScheduleTrace& trace);

/// A worker in the run that is shown. Of a turn that shares all threads each worker has a part.
struct WorkerShare {
  std::size_t turns = 0;
  Nanoseconds busy{};
  double share = 0;  ///< share of the report's span, 0 to 1
};
/// Returns one for each worker: all threads, if a turn shares them.
std::vector<WorkerShare> worker_shares(const ScheduleReport& report);

/// A unit as it is shown.
struct UnitFacts {
  std::string name;  ///< its name, or that of its first operator; fit for a terminal
  std::string tags;  ///< "compute, memory"
  std::size_t operators = 0;
  double cost = 0;                     ///< cost of its operators on one thread, in nanoseconds
  Nanoseconds time{};                  ///< time of all its turns
  std::vector<std::size_t> workers{};  ///< those that ran it, ascending
  bool shared = false;                 ///< it had all threads
};
/// Returns one for each unit of the timetable.
std::vector<UnitFacts> unit_facts(const schedules::ScheduleTrace& trace);

/// Returns the unit of each operator.
std::vector<std::size_t> units_of_operators(const schedules::ScheduleTrace& trace);

/// Returns "0, 1", or "all".
std::string workers_text(const UnitFacts& unit);

/// Returns "relu features.1.relu": the operator's kind without its namespace, and where it stands.
std::string operator_title(const schedules::WeightedNode& node);

}  // namespace pareto::report::schedule
