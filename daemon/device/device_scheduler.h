// Lets the stages of a device compute in turns, so that they share its cores by rule.
//
//   Stage ──TurnTaker::take(its request)──▶ TurnQueue (policy, cores, budget) ──▶ Turn ──▶ compute
//
// The thread that computes a request waits for its turn itself: work never moves to another thread.
// A device that has cores free gives a turn for the price of a mutex. A turn is paused between two
// operators if the policy prefers who waits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/pause.h"
#include "daemon/device/turn_queue.h"

namespace pareto::daemon::device {

/// Rules by which a device is shared.
struct DeviceRules {
  int cores = 1;  ///< cores that all turns together may hold
  std::string policy{kDefaultTurnPolicy};
  double busy = 1;  ///< share of the time for which they may be busy; 1 is no limit
  /// True if the whole process takes no more than `cores`, with what it does between turns.
  bool strict = false;
  ProcessorClock processor{};  ///< the clock of what is busy; empty means the time of turns
  bool pauses = true;          ///< whether turns can be paused at all
};

/// The turn that a request needs.
struct TurnRequest {
  int cores = 1;                ///< threads that compute it; no more count than the device has
  int priority = 0;             ///< more is sooner
  Deadline deadline{};          ///< after it the result is of no use
  TimePoint arrived{};          ///< when the request came to this device
  const void* alone = nullptr;  ///< what only one turn at a time may use; null: nothing
  bool elsewhere = false;       ///< an accelerator computes it, and its cores wait
  bool can_pause = false;       ///< whether its holder asks often whether a pause is wanted
};

/// All turns of a device. It outlives its takers and their turns.
///
/// Threads: any.
class DeviceScheduler {
 public:
  class Turn;
  class TurnTaker;
  class Preparation;

  /// Figures of one moment.
  struct Reading {
    std::string policy;
    int cores = 0;
    double busy_limit = 1;      ///< 1: none
    Nanoseconds busy{};         ///< time of cores that turns held since it began; it only grows
    std::uint64_t waiting = 0;  ///< requests that wait for a turn
  };

  /// Makes a scheduler by the name of its policy. Fails: kInvalidArgument (no such policy).
  static Expected<std::unique_ptr<DeviceScheduler>> make(const DeviceRules& rules);
  DeviceScheduler(const DeviceScheduler&) = delete;
  DeviceScheduler& operator=(const DeviceScheduler&) = delete;

  /// Returns a taker for a stage of a pipeline. Stages of one pipeline share what they took, and
  /// the weight that was given last.
  std::unique_ptr<TurnTaker> open(std::uint64_t pipeline, double weight);
  /// Limits the share of the time for which cores are busy, from now on.
  void set_busy(double share);
  Reading read() const;
  int cores() const { return cores_; }

 private:
  struct Waiter;

  DeviceScheduler(std::unique_ptr<TurnPolicy> policy, const DeviceRules& rules);
  /// Gives turns to all who can have one now. The caller holds mutex_.
  void give_turns(TimePoint now);
  /// Lets those who wait for the budget look again when it opens, which depends on the cores that
  /// are held. The caller holds mutex_.
  void look_again();
  void give_back(HeldTurn& turn);
  void prepare(int more);

  const std::string policy_;
  const int cores_;
  const bool pauses_;
  mutable std::mutex mutex_;
  double busy_;
  mutable TurnQueue queue_;
  std::map<std::uint64_t, std::weak_ptr<TurnAccount>> accounts_;  ///< under their pipelines
};

/// A turn to compute, given back when it is destroyed. Threads: one, which may pause().
class DeviceScheduler::Turn final : public Pauser {
 public:
  Turn(TurnTaker& taker, HeldTurn* held) : taker_(&taker), held_(held) {}
  ~Turn() override;
  Turn(Turn&& other) noexcept
      : Pauser(), taker_(other.taker_), held_(std::exchange(other.held_, nullptr)) {}
  Turn& operator=(Turn&&) = delete;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool is_wanted() const override {
    return held_ == nullptr || held_->wanted.load(std::memory_order_relaxed);
  }
  /// Lets others compute, and waits for another turn. Returns false if the stage was closed: there
  /// is no turn then.
  bool pause() override;

 private:
  TurnTaker* taker_;
  HeldTurn* held_;  ///< a turn of the scheduler's queue; null once there is none
};

/// The loading or profiling of a shard, from construction to destruction. It waits for no turn, and
/// what it computes is not held against the device's limits. Threads: any.
class DeviceScheduler::Preparation {
 public:
  explicit Preparation(DeviceScheduler& scheduler) : scheduler_(scheduler) {
    scheduler_.prepare(1);
  }
  ~Preparation() { scheduler_.prepare(-1); }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

 private:
  DeviceScheduler& scheduler_;
};

/// Takes the turns of one stage. It outlives them.
///
/// Threads: any.
class DeviceScheduler::TurnTaker {
 public:
  TurnTaker(DeviceScheduler& scheduler, std::shared_ptr<TurnAccount> account)
      : scheduler_(scheduler), account_(std::move(account)) {}
  TurnTaker(const TurnTaker&) = delete;
  TurnTaker& operator=(const TurnTaker&) = delete;

  /// Waits for a turn. Fails: kTimeout (the request's deadline has passed), kClosed.
  Expected<Turn> take(const TurnRequest& request);
  /// Returns a turn if there is one at once.
  std::optional<Turn> try_take(const TurnRequest& request);
  /// Wakes who waits. No turn is given from now on; those that are held stay.
  void close();
  /// Gives the cores of its turns to others although they are computed on: what computes does not
  /// stop, and its stage is closed.
  void let_go();

 private:
  friend class DeviceScheduler::Turn;
  WaitingTurn waiting(const TurnRequest& request) const;
  Turn keep(HeldTurn* held);
  void give_back(HeldTurn* held);
  /// Waits for another turn in place of `held`. Returns null if it was closed.
  HeldTurn* pause(HeldTurn* held);

  DeviceScheduler& scheduler_;
  const std::shared_ptr<TurnAccount> account_;
  // Guarded by the scheduler's mutex:
  bool closed_ = false;
  std::vector<HeldTurn*> turns_;  ///< those that are held
};

using TurnTaker = DeviceScheduler::TurnTaker;

}  // namespace pareto::daemon::device
