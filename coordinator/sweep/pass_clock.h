// The time of a sweep: how long each pass took, how much of the budget is left, and what the time
// went into.
#pragma once

#include <optional>
#include <vector>

#include "coordinator/results/record.h"
#include "core/base/clock.h"

namespace pareto::sweep {

/// A clock of passes that adds up what each part of the work took.
///
/// Threads: one owner. The clock and the passes outlive it.
class PassClock {
 public:
  /// `passes`: those of the run. Passes of its earlier parts count towards the budget.
  PassClock(const Clock& clock, std::vector<results::PassRecord>& passes,
            std::optional<double> budget_s);

  /// Begins the time of the last of the passes.
  void begin_pass();
  /// Writes into the last of the passes how long it has taken until now.
  void count_pass();
  /// Returns the seconds of all passes, those of the last one until count_pass().
  double seconds_spent() const;
  /// Returns the longest time that all passes may take together; no value means no limit.
  const std::optional<double>& budget_s() const { return budget_s_; }
  bool budget_is_spent() const { return budget_s_ && seconds_spent() >= *budget_s_; }

  /// Calls `work`, adds the time that it took to a part of spent(), and returns its result.
  template <typename Work>
  auto timed(double results::TimeSpent::*part, Work work) {
    const TimePoint began = clock_.now();
    auto result = work();
    spent_.*part += to_seconds(clock_.now() - began);
    return result;
  }
  /// Returns what the time has gone into since take_spent(), for adding to it.
  results::TimeSpent& spent() { return spent_; }
  /// Returns what the time went into since this was called last, or since the beginning.
  results::TimeSpent take_spent();

 private:
  const Clock& clock_;
  std::vector<results::PassRecord>& passes_;
  const std::optional<double> budget_s_;
  TimePoint pass_began_{};
  TimePoint taken_;
  results::TimeSpent spent_;  ///< since taken_
};

}  // namespace pareto::sweep
