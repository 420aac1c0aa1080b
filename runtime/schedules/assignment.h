// Operators dealt out to workers, before they are cut into units: what several schedules share.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/schedules/schedule.h"
#include "runtime/schedules/timetable.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::schedules {

/// The most workers and parts that a schedule may be asked for.
inline constexpr std::size_t kMostWorkers = 1024;

/// Checks the graph, and that there is at least one worker, and not more than kMostWorkers.
/// Fails: kInvalidArgument.
Expected<> check(const ScheduleRequest& request);

/// Operators of each worker, in the order in which it runs them. No worker has none, unless there
/// are no operators.
struct Assignment {
  std::vector<std::vector<std::size_t>> workers{};
  double span = 0;  ///< time from the first operator's beginning to the last one's end
};

/// Deals out operators, those with the longest way to the end first, each to the worker on which it
/// ends first, and there into the first gap that is long enough.
/// Source: Topcuoglu, Hariri & Wu, "Performance-effective and low-complexity task scheduling for
/// heterogeneous computing", IEEE TPDS 13(3), 2002 (HEFT), for workers that are alike.
///
/// Threads: one owner.
class ListScheduler {
 public:
  /// `graph` must live as long.
  ListScheduler(const WeightedGraph& graph, std::size_t workers, double hand_off);

  /// Returns all operators, those with the longest way first: a topological order.
  const std::vector<std::size_t>& order() const { return order_; }
  /// Deals out some operators, given in the order of order(). What others made is there at once.
  Assignment run(std::span<const std::size_t> operators);

 private:
  struct Place {
    double start = 0;
    double end = 0;
    std::size_t op = 0;
  };
  struct Made {
    std::size_t run = 0;  ///< number of the run that placed it
    std::size_t worker = 0;
    double end = 0;
  };
  double first_start(std::size_t op, std::size_t worker) const;

  const WeightedGraph& graph_;
  double hand_off_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<Place>> workers_;
  std::vector<Made> made_;
  std::size_t runs_ = 0;
};

/// Deals out some operators, ascending, by clusters: linear ones, merged, at most `workers` of
/// them. Each is a worker's. What other operators made is there at once.
Assignment assign_clusters(const WeightedGraph& graph, std::span<const std::size_t> operators,
                           std::size_t workers, double hand_off);

/// Names a unit for people: from its operators' module paths, or `fallback` if they have none.
std::string name_unit(const WeightedGraph& graph, std::span<const std::size_t> operators,
                      std::string fallback);

/// Cuts what each worker runs into as few units as possible, so that none waits in its middle, and
/// none holds back what another worker waits for. Adds the units and one phase.
/// `fallback`: the name of part `piece` of a worker's operators, if they have no module paths.
void add_phase(const WeightedGraph& graph, const Assignment& assignment,
               const std::function<std::string(std::size_t worker, std::size_t piece)>& fallback,
               Timetable& timetable);

/// Adds a unit, and a phase in which one worker runs it with all threads.
void add_shared_phase(const WeightedGraph& graph, std::vector<std::size_t> operators,
                      std::string fallback, Timetable& timetable);

}  // namespace pareto::schedules
