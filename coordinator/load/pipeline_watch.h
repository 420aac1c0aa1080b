// Finds out that a device of a pipeline is lost, although nothing may be sent through it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "coordinator/load/stream_pipeline.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::load {

struct WatchOptions {
  Nanoseconds watch_every = std::chrono::seconds(1);  ///< time between two questions to a device
  /// A device is lost if it does not answer for this time, and for 20 times its slowest answer. It
  /// is not lost if results come later than a second after it was asked.
  std::chrono::milliseconds patience{3000};
  /// Replaces `patience` once somebody wants to stop.
  std::chrono::milliseconds last_patience{1000};
  int stop = -1;  ///< readable once somebody wants to stop; -1: never
};

/// The cause that ended a wait.
enum class Woken { kTime, kStop, kWake };
/// Waits until `stop` is readable, or `wake` (-1: neither ever is), or the time has passed.
Woken wait_for_stop(int stop, int wake, Nanoseconds time);
inline bool is_stopped(int stop) { return wait_for_stop(stop, -1, Nanoseconds(0)) == Woken::kStop; }

/// Asks the devices of a pipeline again and again. Closes its links when one is lost.
///
/// Threads: one owner; one of its own until then.
class PipelineWatch {
 public:
  /// `last_result` is when the last result came; `on_loss` is called by the thread of its own,
  /// before the links are closed. All outlive it.
  PipelineWatch(StreamPipeline& pipeline, const std::atomic<TimePoint>& last_result,
                const WatchOptions& options, std::function<void()> on_loss);

  /// Returns what it found to be lost so far, if anything. Threads: any.
  std::optional<Error> found() const;
  /// Ends the watching. A question that is under way is waited for. Returns as found().
  std::optional<Error> end();

 private:
  void watch();
  /// Asks the devices. True: something is lost.
  bool ask(bool stopped);

  StreamPipeline& pipeline_;
  const std::atomic<TimePoint>& last_result_;
  const WatchOptions& options_;
  const std::function<void()> on_loss_;
  const FileDescriptor wake_;
  Nanoseconds slowest_answer_{};
  mutable std::mutex mutex_;  ///< guards loss_
  std::optional<Error> loss_;
  std::jthread watching_;  // last: it uses all of the above
};

}  // namespace pareto::load
