// A processor that is slower than this machine's, imitated: whatever it computes takes longer, by
// waiting.
//
//   begin ──compute 2 ms──▶ catch_up ──wait 2 ms──▶ compute 1 ms ──▶ finish ──wait 1 ms──▶
//                                                                          at a speed of 0.5
//
// A quota of processor time (cgroups) does not slow bursts shorter than its periods, and slows
// others by more or less, as it happens. This processor slows each by what it took, or, if it is
// steady (steady_pace.h), makes it as long as it is there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/clock.h"
#include "daemon/imitation/steady_pace.h"
#include "runtime/shard_runner.h"

namespace pareto::daemon {

/// One processor, shared by all that computes on it. Work of several threads takes turns, as far as
/// it takes longer there: together they get no more than its speed.
///
/// Threads: any.
class SlowProcessor {
 public:
  /// `speed` is of the whole processor, in cores of this machine; 0 means this machine as it is.
  explicit SlowProcessor(double speed);

  /// Returns how many times as long work of `threads` threads takes; at least 1.
  double times(int threads) const;
  /// Returns how long it takes at this speed what takes `time` at a steady pace.
  Nanoseconds at_pace(Nanoseconds time) const;

  /// Work on this thread, from construction on. Threads: one.
  class Work {
   public:
    /// `options` say how the shard is run. One thread that computes alone is timed by its processor
    /// time: what keeps it from computing here is not slowed too. `pace`, if given, says how long
    /// the work takes there with inputs of `input_bytes`, in place of what it takes here; it
    /// outlives this. The work ends early if `options.stop` becomes true.
    Work(SlowProcessor& processor, const runtime::RunnerOptions& options,
         const SteadyPace* pace = nullptr, std::uint64_t input_bytes = 0);
    /// Waits until the imitated processor has made output `output`, which this thread has just
    /// made.
    void catch_up(std::size_t output);
    /// Waits until the processor has done all that this thread has; afterwards it is free for
    /// others. Fails: kClosed (it was stopped).
    Expected<> finish();

   private:
    bool is_as_here() const { return pace_ == nullptr && times_ == 1; }
    Nanoseconds now() const;
    /// Returns how long the imitated processor takes for what this thread has computed until now:
    /// all of the work, or all up to `output`.
    Nanoseconds time_there(std::optional<std::size_t> output);
    /// Returns at `due`, or soon after the work was stopped.
    void wait_until(TimePoint due) const;

    SlowProcessor& processor_;
    const double times_;
    const bool by_cpu_;
    const std::shared_ptr<const std::atomic<bool>> stop_;
    const SteadyPace* const pace_;
    const std::uint64_t input_bytes_;
    TimePoint begin_;
    Nanoseconds computed_{};  ///< time computed here so far
    Nanoseconds counted_{};   ///< how far that is counted, on the clock that times this work
  };

 private:
  const double speed_;
  int cores_ = std::numeric_limits<int>::max();  ///< cores of this machine that may be used
  std::mutex mutex_;
  TimePoint busy_until_{};  ///< end of the work that is finished
};

}  // namespace pareto::daemon
