// Turns that are held and waited for, without threads or a clock of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "daemon/device/busy_budget.h"
#include "daemon/device/turn_policy.h"

namespace pareto::daemon::device {

/// A turn that somebody holds.
struct HeldTurn {
  HeldTurn(const WaitingTurn& asked, TimePoint now) : turn(asked), cores(asked.cores), since(now) {}

  const WaitingTurn turn;           ///< the turn that was asked for
  int cores;                        ///< cores that it holds; 0 once it was let go
  TimePoint since;                  ///< when it got them
  std::atomic<bool> wanted{false};  ///< whether it is to be paused soon; read by any thread
};

/// The cores of a device, given to one turn after another in the order of a policy. Nobody
/// overtakes who is next: a turn of many cores is sure to come. Only those pass it that it does not
/// wait with, because what they want for themselves alone is in use.
///
/// A turn that is held can be paused: it then waits again, and keeps what it uses alone.
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
  /// `held` is what is to be given back. If cores are lacking, turns that the policy interrupts for
  /// who is next are `wanted` from now on.
  WaitingTurn* next(TimePoint now, HeldTurn*& held);
  /// Takes a turn back, and forgets it.
  void give_back(HeldTurn& turn, TimePoint now);
  /// Takes a turn back, and has its holder wait for another one as `again`.
  void pause(HeldTurn& turn, WaitingTurn& again, TimePoint now);
  /// Takes the cores of a turn back whose holder computes on. What it uses alone it still has.
  void let_go(HeldTurn& turn, TimePoint now);

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
  bool is_used(const WaitingTurn& turn) const;
  BusyUse use() const { return {held_, elsewhere_, preparing_ > 0}; }
  /// Returns who is next; null: nobody can be.
  WaitingTurn* first() const;
  /// Has turns paused that `first` interrupts, if their cores are enough then.
  void want_cores(const WaitingTurn& first, TimePoint now);
  /// Charges a turn for the time that it held its cores, and takes those. Returns the seconds of
  /// cores that it has taken in all.
  double take_cores(HeldTurn& turn, TimePoint now);
  /// Forgets a turn without cores.
  void drop(const HeldTurn& turn);
  void free_alone(const void* alone);

  const std::unique_ptr<TurnPolicy> policy_;
  const int cores_;
  BusyBudget budget_;
  int held_ = 0;       ///< cores
  int elsewhere_ = 0;  ///< those of them that wait for an accelerator
  int preparing_ = 0;
  std::uint64_t asked_ = 0;
  std::vector<WaitingTurn*> waiting_;
  std::list<HeldTurn> turns_;
  std::vector<const void*> used_alone_;
};

}  // namespace pareto::daemon::device
