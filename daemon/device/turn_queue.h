// Turns that are held and waited for, without threads or a clock of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "daemon/device/busy_budget.h"
#include "daemon/device/turn_policy.h"

namespace pareto::daemon {

/// A turn that somebody holds. `account` outlives it.
struct HeldTurn {
  TurnAccount* account = nullptr;
  int cores = 0;
  const void* alone = nullptr;
  bool elsewhere = false;
  TimePoint since{};
};

/// The cores of a device, given to one turn after another in the order of a policy. Nobody
/// overtakes who is next: a turn of many cores is sure to come. Only those pass it that it does not
/// wait with, because what they want for themselves alone is in use.
///
/// Threads: one at a time.
class TurnQueue {
 public:
  TurnQueue(std::unique_ptr<TurnPolicy> policy, int cores, BusyBudget budget);

  /// Adds somebody who waits. Gives it a number, and no more cores than there are. It stays where
  /// it is until it gets its turn or leaves.
  void ask(WaitingTurn& turn);
  /// Takes back that somebody waits.
  void leave(const WaitingTurn& turn);
  /// Gives a turn to who is next, if cores and budget allow. Returns who got one; null: nobody.
  /// `held` is what is to be given back.
  WaitingTurn* next(TimePoint now, HeldTurn& held);
  void give_back(const HeldTurn& turn, TimePoint now);

  /// Returns when to call next() again although nothing is given back; no value means never.
  std::optional<TimePoint> look_again() const;
  const std::vector<WaitingTurn*>& waiting() const { return waiting_; }
  int cores() const { return cores_; }
  /// Returns the seconds of cores that turns held up to `now`.
  double used(TimePoint now);
  void set_busy(double share, TimePoint now);
  /// Counts those who load or profile shards, one more or one less.
  void prepare(int more, TimePoint now);

 private:
  bool is_used(const void* alone) const;
  BusyUse use() const { return {held_, elsewhere_, preparing_ > 0}; }

  const std::unique_ptr<TurnPolicy> policy_;
  const int cores_;
  BusyBudget budget_;
  int held_ = 0;       ///< cores
  int elsewhere_ = 0;  ///< those of them that wait for an accelerator
  int preparing_ = 0;
  std::uint64_t asked_ = 0;
  std::vector<WaitingTurn*> waiting_;
  std::vector<const void*> used_alone_;
};

}  // namespace pareto::daemon
