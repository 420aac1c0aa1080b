#include "daemon/device/turn_queue.h"

#include <algorithm>
#include <utility>

namespace pareto::daemon::device {
namespace {

/// The part of the newest turn in a pipeline's average.
constexpr double kNewest = 0.2;

/// Returns the seconds of cores that a turn has taken since it got its cores.
double core_seconds(const HeldTurn& turn, TimePoint now) {
  return to_seconds(now - turn.since) * turn.cores;
}

}  // namespace

TurnQueue::TurnQueue(std::unique_ptr<TurnPolicy> policy, int cores, BusyBudget budget)
    : policy_(std::move(policy)), cores_(cores), budget_(std::move(budget)) {}

void TurnQueue::ask(WaitingTurn& turn) {
  turn.cores = std::clamp(turn.cores, 1, cores_);
  turn.number = asked_++;
  policy_->asks(*turn.account);
  ++turn.account->turns;
  waiting_.push_back(&turn);
}

void TurnQueue::leave(const WaitingTurn& turn) {
  if (std::erase(waiting_, &turn) == 0) return;
  --turn.account->turns;
  if (turn.resumes) free_alone(turn.alone);
}

bool TurnQueue::is_used(const WaitingTurn& turn) const {
  return turn.alone != nullptr && !turn.resumes &&
         std::ranges::find(used_alone_, turn.alone) != used_alone_.end();
}

WaitingTurn* TurnQueue::first() const {
  WaitingTurn* first = nullptr;
  for (WaitingTurn* const turn : waiting_) {
    if (is_used(*turn)) continue;
    if (first == nullptr || policy_->before(*turn, *first)) first = turn;
  }
  return first;
}

WaitingTurn* TurnQueue::next(TimePoint now, HeldTurn*& held) {
  if (waiting_.empty()) return nullptr;
  budget_.count(now, use());
  if (!budget_.open()) return nullptr;
  WaitingTurn* const next = first();
  if (next == nullptr) return nullptr;
  if (next->cores > cores_ - held_) {
    want_cores(*next, now);
    return nullptr;
  }
  std::erase(waiting_, next);
  policy_->gets(*next->account);
  held_ += next->cores;
  if (next->elsewhere) elsewhere_ += next->cores;
  if (next->alone != nullptr && !next->resumes) used_alone_.push_back(next->alone);
  held = &turns_.emplace_back(*next, now);
  return next;
}

void TurnQueue::want_cores(const WaitingTurn& first, TimePoint now) {
  int free = cores_ - held_;
  std::vector<HeldTurn*> interrupted;
  for (HeldTurn& turn : turns_) {
    if (turn.wanted) {
      free += turn.cores;
    } else if (turn.turn.can_pause &&
               policy_->interrupts(first, turn.turn, core_seconds(turn, now))) {
      interrupted.push_back(&turn);
    }
  }
  // The last ones in the policy's order are the first to be interrupted.
  std::ranges::sort(interrupted, [&](const HeldTurn* one, const HeldTurn* other) {
    return policy_->before(other->turn, one->turn);
  });
  std::size_t count = 0;
  while (free < first.cores && count < interrupted.size()) free += interrupted[count++]->cores;
  if (free < first.cores) return;
  for (std::size_t i = 0; i < count; ++i) interrupted[i]->wanted = true;
}

double TurnQueue::take_cores(HeldTurn& turn, TimePoint now) {
  budget_.count(now, use());
  held_ -= turn.cores;
  if (turn.turn.elsewhere) elsewhere_ -= turn.cores;
  const double took = core_seconds(turn, now);
  policy_->took(*turn.turn.account, took);
  turn.cores = 0;
  return turn.turn.taken + took;
}

void TurnQueue::drop(const HeldTurn& turn) {
  --turn.turn.account->turns;
  turns_.remove_if([&](const HeldTurn& one) { return &one == &turn; });
}

void TurnQueue::free_alone(const void* alone) {
  const auto used = std::ranges::find(used_alone_, alone);
  if (used != used_alone_.end()) used_alone_.erase(used);
}

void TurnQueue::give_back(HeldTurn& turn, TimePoint now) {
  const bool whole = turn.cores > 0;
  const double taken = take_cores(turn, now);
  double& average = turn.turn.account->turn;
  if (whole) average = average > 0 ? average + kNewest * (taken - average) : taken;
  free_alone(turn.turn.alone);
  drop(turn);
}

void TurnQueue::pause(HeldTurn& turn, WaitingTurn& again, TimePoint now) {
  again.resumes = true;
  // First, so that its pipeline never seems to be idle.
  ask(again);
  again.taken = take_cores(turn, now);
  drop(turn);
}

void TurnQueue::let_go(HeldTurn& turn, TimePoint now) { take_cores(turn, now); }

std::optional<TimePoint> TurnQueue::look_again() const {
  return waiting_.empty() ? std::nullopt : budget_.opens_at(held_);
}

double TurnQueue::used(TimePoint now) {
  budget_.count(now, use());
  return budget_.used();
}

void TurnQueue::set_busy(double share, TimePoint now) {
  budget_.count(now, use());
  budget_.set_share(share);
}

void TurnQueue::prepare(int more, TimePoint now) {
  budget_.count(now, use());
  preparing_ += more;
}

}  // namespace pareto::daemon::device
