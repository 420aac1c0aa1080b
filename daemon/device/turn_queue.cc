#include "daemon/device/turn_queue.h"

#include <algorithm>
#include <utility>

namespace pareto::daemon {

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
  if (std::erase(waiting_, &turn) > 0) --turn.account->turns;
}

bool TurnQueue::is_used(const void* alone) const {
  return alone != nullptr && std::ranges::find(used_alone_, alone) != used_alone_.end();
}

WaitingTurn* TurnQueue::next(TimePoint now, HeldTurn& held) {
  if (waiting_.empty()) return nullptr;
  budget_.count(now, use());
  if (!budget_.open()) return nullptr;
  WaitingTurn* first = nullptr;
  for (WaitingTurn* const turn : waiting_) {
    if (is_used(turn->alone)) continue;
    if (first == nullptr || policy_->before(*turn, *first)) first = turn;
  }
  if (first == nullptr || first->cores > cores_ - held_) return nullptr;
  std::erase(waiting_, first);
  policy_->gets(*first->account);
  held_ += first->cores;
  if (first->elsewhere) elsewhere_ += first->cores;
  if (first->alone != nullptr) used_alone_.push_back(first->alone);
  held = {first->account, first->cores, first->alone, first->elsewhere, now};
  return first;
}

void TurnQueue::give_back(const HeldTurn& turn, TimePoint now) {
  budget_.count(now, use());
  held_ -= turn.cores;
  if (turn.elsewhere) elsewhere_ -= turn.cores;
  --turn.account->turns;
  policy_->took(*turn.account, to_seconds(now - turn.since) * turn.cores);
  const auto used = std::ranges::find(used_alone_, turn.alone);
  if (used != used_alone_.end()) used_alone_.erase(used);
}

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

}  // namespace pareto::daemon
