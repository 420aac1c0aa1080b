// Keeps the cores of a device busy for no more than a share of the time.
#pragma once

#include <optional>

#include "core/base/clock.h"

namespace pareto::daemon {

/// Core time that may be used: `share` of every second of every core. What is not used is kept, but
/// not for longer than kKept. A turn may use more than there is: nobody gets another one until that
/// is made up for.
///
/// Threads: one at a time.
class BusyBudget {
 public:
  static constexpr std::chrono::seconds kKept{1};

  /// `share` is over 0; 1 and more is no limit. `now` is when the budget begins.
  BusyBudget(double share, int cores, TimePoint now);

  /// Counts the time up to `now`, in which `held` cores were in use.
  void count(TimePoint now, int held);
  /// Returns whether somebody may begin to use cores.
  bool open() const { return unlimited() || left_ > 0; }
  /// Returns when it will be open again if `held` cores stay in use; none if it is open, or will
  /// not be.
  std::optional<TimePoint> opens_at(int held) const;
  /// Returns the seconds of cores that were in use.
  double used() const { return used_; }
  /// Limits the share from now on.
  void set_share(double share);

 private:
  bool unlimited() const { return share_ >= 1; }
  double per_second() const { return share_ * cores_; }

  double share_;
  const int cores_;
  TimePoint counted_;  ///< up to when
  double left_;        ///< seconds of cores; below 0: used before they were there
  double used_ = 0;
};

}  // namespace pareto::daemon
