// Weighted fair queueing: the pipeline that took least of the cores, by its weight, is next.
//
// What a turn costs is not known before it ends, so it is charged then. A pipeline that comes back
// begins where the others are by now: it saves up nothing while it is idle.
//
// A turn is paused for a pipeline that took no more than its share, and whose turns are shorter. So
// it does not wait for the long turns of a greedy one, which loses little. Turns of about the same
// length let each other finish: to take turns within them would help neither.
#include <algorithm>

#include "daemon/device/policies/policies.h"

namespace pareto::daemon::device {
namespace {

class Fair final : public TurnPolicy {
 public:
  bool before(const WaitingTurn& one, const WaitingTurn& other) const override {
    const double mine = one.account->virtual_time;
    const double theirs = other.account->virtual_time;
    return mine != theirs ? mine < theirs : came_before(one, other);
  }

  bool interrupts(const WaitingTurn& waiting, const WaitingTurn& held,
                  double core_seconds) const override {
    const TurnAccount& mine = *waiting.account;
    const TurnAccount& theirs = *held.account;
    const double turn = std::max(theirs.turn, held.taken + core_seconds);
    return mine.virtual_time < theirs.virtual_time + core_seconds / theirs.weight &&
           kShorter * mine.turn < turn;
  }

  void asks(TurnAccount& account) override {
    if (account.turns == 0) account.virtual_time = std::max(account.virtual_time, now_);
  }
  void gets(TurnAccount& account) override { now_ = std::max(now_, account.virtual_time); }
  void took(TurnAccount& account, double core_seconds) override {
    account.virtual_time += core_seconds / account.weight;
  }

 private:
  /// Times that a turn is longer than one that interrupts it.
  static constexpr double kShorter = 1.5;

  double now_ = 0;  ///< virtual time of the pipeline that was served last
};

}  // namespace

std::unique_ptr<TurnPolicy> make_fair() { return std::make_unique<Fair>(); }

}  // namespace pareto::daemon::device
