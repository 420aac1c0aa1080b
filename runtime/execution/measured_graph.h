// An engine's graph with the measured cost of each operator, and what a batch may be cut into. Sees
// LibTorch: for runtime sources only.
#pragma once

#include <torch/script.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/thread_pool.h"
#include "runtime/engines/engine.h"
#include "runtime/execution/operator_graph.h"
#include "runtime/execution/scheduled_engine.h"

namespace pareto::runtime {

/// An engine's graph, the measured cost of each of its operators, and the values that a batch can
/// be cut by.
///
/// Threads: one at a time. Throws c10::Error, as running the graph does.
class MeasuredGraph {
 public:
  /// `entry` prepares the module for the engine again for each part of a batch, if the engine has
  /// values that only one worker may use. `pool` outlives it and has `threads` threads.
  MeasuredGraph(const EngineEntry& entry, LoadedModule loaded, int threads, ThreadPool& pool);

  /// Measures each operator on one thread, and with all of them if there are several.
  void measure(const std::vector<c10::IValue>& arguments);
  /// Finds which values hold one row a sample, from arguments of the batch and of a smaller one.
  /// Returns why the batch cannot be cut, or nothing.
  std::string find_batch_rule(std::int64_t batch, const std::vector<c10::IValue>& whole,
                              const std::vector<c10::IValue>& part);

  /// Returns the operators, with measured costs in nanoseconds.
  const schedules::WeightedGraph& graph() const { return graph_; }

  /// Returns an engine that runs by a checked timetable. If that has more workers than the pool has
  /// threads, another pool is made for it.
  std::unique_ptr<ScheduledEngine> build(schedules::Timetable timetable);

 private:
  /// Returns a timetable of each operator as a unit, one after the other.
  schedules::Timetable one_by_one(bool all_threads) const;

  const EngineEntry& entry_;
  const LoadedModule loaded_;
  const int threads_;
  ThreadPool& pool_;
  std::vector<std::unique_ptr<ThreadPool>> larger_pools_;
  const EngineGraph engine_graph_;
  const OperatorGraph operators_;
  std::vector<std::vector<c10::IValue>> extras_;  ///< values of each part that was asked for
  schedules::WeightedGraph graph_;
  BatchRule rule_;
};

}  // namespace pareto::runtime
