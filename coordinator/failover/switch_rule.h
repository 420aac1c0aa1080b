// Decides when a better plan is worth a change: a plan that is better only for a moment is not.
#pragma once

#include <optional>

#include "core/base/clock.h"

namespace pareto::failover {

struct SwitchRules {
  /// The share by which the next plan must be better. Predictions are off by some percent, so that
  /// a smaller gain may be none.
  double least_gain = 0.10;
  /// The time for which it must stay so: a link that is busy for a moment is not slow.
  Nanoseconds hold = std::chrono::seconds(1);
  /// The least time between two changes, so that what follows a change is seen before the next.
  Nanoseconds dwell = std::chrono::seconds(5);
  /// The same in times of what the last change took, for the least gain: devices compute for both
  /// plans meanwhile, and that is to stay below a tenth of the time. A plan that is twice as much
  /// better makes good for a change in half the time.
  double cost_ratio = 10;
  /// The longest time after changes that were refused one after the other; each doubles it.
  Nanoseconds longest_dwell = std::chrono::seconds(60);
};

/// A rule with its state: since when a plan has been better, and when the last change was made or
/// refused.
///
/// Threads: one owner.
class SwitchRule {
 public:
  explicit SwitchRule(SwitchRules rules = {}) : rules_(rules) {}

  /// Returns whether to change now. `gain`: the share by which the best plan is better than the one
  /// that runs; `spread`: that by which measurements differ among each other.
  bool consider(double gain, double spread, TimePoint now);
  /// A change was made, in `cost`.
  void made(Nanoseconds cost, TimePoint now);
  /// A change was refused.
  void refused(TimePoint now);
  /// Returns since when another plan has been better; no value if none is.
  std::optional<TimePoint> better_since() const { return better_since_; }

 private:
  /// Returns the least time between the last change and one that gains so much.
  Nanoseconds pause_for(double gain) const;

  const SwitchRules rules_;
  std::optional<TimePoint> better_since_;
  std::optional<TimePoint> last_;  ///< when the last change was made or refused
  Nanoseconds cost_{};             ///< what the last change took that was made
  Nanoseconds refusal_{};          ///< pause after changes that were refused; 0: the last was made
};

}  // namespace pareto::failover
