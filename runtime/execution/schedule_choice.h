// Chooses how an engine's graph is put to work: by the requested schedule, or by the fastest. Sees
// LibTorch: for runtime sources only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "runtime/engines/engine.h"
#include "runtime/engines/engine_choice.h"
#include "runtime/schedules/schedule_trace.h"
#include "runtime/torch/shard_boundary.h"

namespace pareto::runtime {

/// An engine's graph, measured and put to work by a schedule.
///
/// Threads: one at a time; the one that calls should be in inference mode.
class ScheduledShard {
 public:
  virtual ~ScheduledShard() = default;
  /// Returns the engine that runs by the schedule.
  virtual Engine& engine() = 0;
  /// Returns the schedule, as RunnerOptions has it, and why it is not the one asked for; empty: it
  /// is.
  virtual const std::string& name() const = 0;
  virtual const std::string& reason() const = 0;
  /// Runs the arguments `repeats` times by the schedule, on one thread and with all.
  /// Fails: as running the graph does.
  virtual Expected<schedules::ScheduleTrace> trace(const std::vector<c10::IValue>& arguments,
                                                   int repeats) = 0;
};

/// Measures each operator of the chosen engine's graph on example inputs, makes the timetable of
/// `options.schedule` ("auto": of each schedule that needs no program) and keeps it if its results
/// are the chosen engine's with as many threads as operators have: the same bits if that is plain,
/// else within the engine's error. "auto" keeps the fastest; "mixed" gives way to "sequential" if
/// that is faster, or if the plain engine's bits change with the number of threads.
///
/// `options.schedule` has been checked (schedules::check_schedule); `pool` makes the threads that
/// workers run on.
/// Fails: kInvalidArgument (a program that does not fit, a shard that does not run on its example
/// inputs), kExhausted.
Expected<std::unique_ptr<ScheduledShard>> choose_schedule(const RunnerOptions& options,
                                                          const LoadedModule& loaded,
                                                          const ShardBoundary& boundary,
                                                          const ChosenEngine& chosen,
                                                          std::shared_ptr<ThreadPool> pool);

}  // namespace pareto::runtime
