// A processor that is slower than this machine's, imitated: whatever it computes takes longer, by waiting.
//
//   begin ──compute 2 ms──▶ catch_up ──wait 2 ms──▶ compute 1 ms ──▶ finish ──wait 1 ms──▶        at a speed of 0.5
//
// A quota of processor time (cgroups) slows bursts that are shorter than its periods not at all, and others by more or less, as it happens;
// this slows each by what it took, or, of a steady one (steady_pace.h), makes it as long as it is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>

#include "core/base/clock.h"
#include "core/runtime/shard_runner.h"
#include "daemon/imitation/steady_pace.h"

namespace pareto::daemon {

/// Threads: any. What several threads compute at once takes turns, as far as it takes longer: together they get no more than its speed.
class SlowProcessor {
 public:
  /// `speed`: the whole processor, in cores of this machine; 0: this machine as it is.
  explicit SlowProcessor(double speed);

  /// How many times as long work takes that uses so many threads; at least 1.
  double times(int threads) const;
  /// Of what takes so long at a steady pace.
  Nanoseconds at_pace(Nanoseconds time) const;

  /// From now on, on this thread.
  class Work {
   public:
    /// How a shard is run. A thread that computes alone is timed by its processor time: what keeps it from computing here is not slowed too.
    /// `pace`, where given, says how long it takes there, with inputs of so many bytes, in place of what it takes here. It outlives this.
    Work(SlowProcessor& processor, const runtime::RunnerOptions& options,
         const SteadyPace* pace = nullptr, std::uint64_t input_bytes = 0);
    /// Returns when the imitated processor has made that output, which this thread has just made.
    void catch_up(std::size_t output);
    /// Returns when it has done all that this thread has; afterwards it is free for others.
    void finish();

   private:
    bool is_as_here() const { return pace_ == nullptr && times_ == 1; }
    Nanoseconds now() const;
    /// How long the imitated processor takes for what this thread has computed until now, which is all, or all up to that output.
    Nanoseconds time_there(std::optional<std::size_t> output);

    SlowProcessor& processor_;
    const double times_;
    const bool by_cpu_;
    const SteadyPace* const pace_;
    const std::uint64_t input_bytes_;
    TimePoint begin_;
    Nanoseconds computed_{};  ///< here
    Nanoseconds counted_{};   ///< until when, on the clock that work is timed by
  };

 private:
  const double speed_;
  int cores_ = std::numeric_limits<int>::max();  ///< of this machine, that may be used
  std::mutex mutex_;
  TimePoint busy_until_{};  ///< by work that is finished
};

}  // namespace pareto::daemon
