// Runs an engine's graph by a timetable: units of operators on several workers. Sees LibTorch: for
// runtime sources only.
//
//   arguments ─▶ slots ─▶ phase: worker 0: unit, unit …   ─▶ phase … ─▶ results
//                               worker 1: unit, unit …
#pragma once

#include <torch/script.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/thread_pool.h"
#include "runtime/engines/engine.h"
#include "runtime/execution/operator_graph.h"
#include "runtime/schedules/schedule_trace.h"
#include "runtime/schedules/timetable.h"

namespace pareto::runtime {

/// Rule that cuts a batch into parts: which values hold one row a sample.
struct BatchRule {
  std::int64_t batch = 1;  ///< the batch that is cut; any other runs as one part
  /// Tells by a value's number whether it is a tensor whose first dimension is the batch. It is
  /// empty if there is one part.
  std::vector<bool> batched{};
};

/// Workers are threads of a pool, the calling thread among them. What a unit makes is free for
/// other workers as soon as the unit has run; they wait for some 30 µs at once, then they sleep. A
/// value is freed after its last use. From the third run on, parts make what the whole batch is
/// asked for in their rows of one tensor (OutputPlace).
///
/// Gives nothing early.
class ScheduledEngine final : public Engine {
 public:
  /// `graph`: also that of `operators`. `extras`: the engine's extra values of each part; those of
  /// one part are used by one worker at a time. `timetable` has been checked. `threads`: those of a
  /// phase whose operators share them. `pool` outlives the engine and has as many threads as the
  /// timetable has workers.
  ScheduledEngine(const EngineGraph& graph, const OperatorGraph& operators,
                  std::vector<std::vector<c10::IValue>> extras, schedules::Timetable timetable,
                  BatchRule rule, int threads, ThreadPool& pool);
  ~ScheduledEngine() override;

  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs, EarlyResults* early) override;
  std::uint64_t packed_bytes() const override;
  std::vector<Nanoseconds> worker_times() const override;

  /// The doings of one run.
  struct Record {
    std::vector<schedules::TurnTime> turns{};
    /// Sizes of the values that operators made in part 0, by the value's number. They are empty for
    /// a value that is no tensor, or that never leaves its unit.
    std::vector<std::vector<std::int64_t>> sizes{};
    std::vector<std::uint64_t> bytes{};  ///< bytes of the same values
    std::size_t joined = 0;              ///< values that were put together from those of parts
    std::size_t copied = 0;              ///< those of them whose parts had to be copied
  };
  /// Lets the next runs write what they do, over what is there; null: no longer.
  void record(Record* record);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::runtime
