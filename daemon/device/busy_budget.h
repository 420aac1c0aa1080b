// Keeps a device busy for no more than its owner allows.
#pragma once

#include <functional>
#include <optional>

#include "core/base/clock.h"

namespace pareto::daemon::device {

/// Returns the processor time that this process has used so far. Threads: any.
using ProcessorClock = std::function<Nanoseconds()>;

/// The limit that an owner sets.
struct BusyLimit {
  double share = 1;  ///< share of the time for which the cores may be busy; over 0, 1 is no limit
  int cores = 1;
  /// True if all that the process does takes no more than these cores: their number is the owner's,
  /// not the machine's.
  bool strict = false;
};

/// The use of a device at a moment.
struct BusyUse {
  int held = 0;           ///< cores that turns hold
  int elsewhere = 0;      ///< those of them that wait for an accelerator
  bool prepares = false;  ///< whether shards are loaded or profiled
};

/// Core time that may be used: `share` of every second of every core. What is not used is kept, but
/// not for longer than kKept. A turn may use more than there is: nobody gets another one until that
/// is made up for.
///
/// | while | what counts is |
/// |---|---|
/// | nothing is prepared | processor time of the whole process: receiving and sending too |
/// | a turn waits for an accelerator | the time of that turn, if it is more |
/// | shards are loaded or profiled | the time of turns, if it is less |
/// | there is no processor clock (an imitated device) | the time of turns |
///
/// Threads: one at a time.
class BusyBudget {
 public:
  static constexpr std::chrono::milliseconds kKept{200};

  /// `now` is when the budget begins.
  BusyBudget(const BusyLimit& limit, TimePoint now, ProcessorClock processor = {});

  /// Counts the time up to `now`, in which `use` was the use of the device.
  void count(TimePoint now, const BusyUse& use);
  /// Returns whether somebody may begin to use cores.
  bool open() const { return unlimited() || left_ > 0; }
  /// Returns when it will be open again if `held` cores stay in use; none if it is open, or will
  /// not be. If others keep the process from its cores it is open sooner, and if the process works
  /// outside turns, later: ask again then.
  std::optional<TimePoint> opens_at(int held) const;
  /// Returns the seconds of cores that turns held.
  double used() const { return used_; }
  /// Limits the share from now on.
  void set_share(double share);

 private:
  bool unlimited() const { return limit_.share >= 1 && !limit_.strict; }
  double per_second() const { return limit_.share * limit_.cores; }
  double most() const { return per_second() * to_seconds(kKept); }
  /// Returns the seconds of cores that count of `passed` seconds.
  double counted(double passed, const BusyUse& use);

  BusyLimit limit_;
  const ProcessorClock processor_;
  TimePoint counted_;           ///< up to when
  Nanoseconds processor_at_{};  ///< processor time then
  double left_;                 ///< seconds of cores; below 0: used before they were there
  double used_ = 0;
};

}  // namespace pareto::daemon::device
