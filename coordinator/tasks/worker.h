// Who runs stages. A worker of this process is a thread on a core; others run stages on devices
// (coordinator/tasks/device_worker.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "core/tensor/value.h"
#include "runtime/shard_runner.h"

namespace pareto::tasks {

/// The number of a stage that workers have loaded: of a whole model too, which is one stage.
using StageId = std::size_t;

/// One place that runs stages, one after the other.
///
/// Threads: one call at a time.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Loads a stage, and gets it warm. Returns the engine that was kept. Fails: as
  /// runtime::ShardRunner::load().
  virtual Expected<std::string> load(StageId stage, const plan::Shard& shard,
                                     const runtime::WeightSource& weights,
                                     const runtime::RunnerOptions& options) = 0;
  /// Forgets a stage.
  virtual void unload(StageId stage) = 0;
  /// Runs a loaded stage. Values are handed over without copies where there is one memory.
  /// Fails: as runtime::ShardRunner::run(); as links do if its device is lost.
  virtual Expected<std::vector<Value>> run(StageId stage, std::vector<Value> inputs) = 0;
  /// Returns whether its device may be lost while a stage runs.
  virtual bool may_be_lost() const { return false; }
  /// Returns whether its device was lost: nothing runs there any more.
  virtual bool is_lost() const { return false; }
};

using Workers = std::vector<std::unique_ptr<Worker>>;

/// Returns a worker that runs in the thread which calls it.
std::unique_ptr<Worker> make_in_process_worker();

}  // namespace pareto::tasks
