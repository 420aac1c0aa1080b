#include "daemon/device/device_scheduler.h"

#include <algorithm>
#include <condition_variable>

namespace pareto::daemon::device {
namespace {

/// Returns the earlier of two moments that may be none.
Deadline earlier(const Deadline& one, const Deadline& other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

}  // namespace

/// A thread that waits for its turn. It lives where that thread waits.
struct DeviceScheduler::Waiter : WaitingTurn {
  const TurnTaker* taker = nullptr;
  HeldTurn* held = nullptr;
  std::condition_variable changed{};
};

Expected<std::unique_ptr<DeviceScheduler>> DeviceScheduler::make(const DeviceRules& rules) {
  PARETO_ASSIGN(auto policy, make_turn_policy(rules.policy));
  return std::unique_ptr<DeviceScheduler>(new DeviceScheduler(std::move(policy), rules));
}

DeviceScheduler::DeviceScheduler(std::unique_ptr<TurnPolicy> policy, const DeviceRules& rules)
    : policy_(rules.policy),
      cores_(std::max(rules.cores, 1)),
      pauses_(rules.pauses),
      busy_(rules.busy),
      queue_(std::move(policy), cores_,
             BusyBudget({rules.busy, cores_, rules.strict}, now(), rules.processor)) {}

std::unique_ptr<TurnTaker> DeviceScheduler::open(std::uint64_t pipeline, double weight) {
  const std::lock_guard lock(mutex_);
  std::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<TurnAccount> account = accounts_[pipeline].lock();
  if (!account) accounts_[pipeline] = account = std::make_shared<TurnAccount>();
  account->weight = weight;
  return std::make_unique<TurnTaker>(*this, std::move(account));
}

void DeviceScheduler::set_busy(double share) {
  const std::lock_guard lock(mutex_);
  const TimePoint at = now();
  busy_ = share;
  queue_.set_busy(share, at);
  give_turns(at);
  look_again();
}

DeviceScheduler::Reading DeviceScheduler::read() const {
  const std::lock_guard lock(mutex_);
  return {policy_, cores_, busy_, from_nanoseconds(queue_.used(now()) * 1e9),
          queue_.waiting().size()};
}

void DeviceScheduler::give_turns(TimePoint at) {
  HeldTurn* held = nullptr;
  while (WaitingTurn* const next = queue_.next(at, held)) {
    auto& waiter = static_cast<Waiter&>(*next);
    waiter.held = held;
    waiter.changed.notify_one();
  }
}

void DeviceScheduler::look_again() {
  if (!queue_.look_again()) return;
  for (WaitingTurn* const waiting : queue_.waiting()) {
    static_cast<Waiter*>(waiting)->changed.notify_one();
  }
}

void DeviceScheduler::give_back(HeldTurn& turn) {
  const TimePoint at = now();
  queue_.give_back(turn, at);
  give_turns(at);
  look_again();
}

WaitingTurn TurnTaker::waiting(const TurnRequest& request) const {
  return {.account = account_.get(),
          .cores = request.cores,
          .priority = request.priority,
          .deadline = request.deadline,
          .arrived = request.arrived,
          .alone = request.alone,
          .elsewhere = request.elsewhere,
          .can_pause = request.can_pause && scheduler_.pauses_};
}

DeviceScheduler::Turn TurnTaker::keep(HeldTurn* held) {
  turns_.push_back(held);
  return {*this, held};
}

void TurnTaker::give_back(HeldTurn* held) {
  const std::lock_guard lock(scheduler_.mutex_);
  std::erase(turns_, held);
  scheduler_.give_back(*held);
}

HeldTurn* TurnTaker::pause(HeldTurn* held) {
  std::unique_lock lock(scheduler_.mutex_);
  TurnQueue& queue = scheduler_.queue_;
  Waiter waiter{held->turn, this};
  std::erase(turns_, held);
  queue.pause(*held, waiter, now());
  scheduler_.give_turns(now());
  scheduler_.look_again();
  for (;; scheduler_.give_turns(now())) {
    if (waiter.held != nullptr) {
      turns_.push_back(waiter.held);
      return waiter.held;
    }
    if (closed_) {
      queue.leave(waiter);
      scheduler_.give_turns(now());
      scheduler_.look_again();
      return nullptr;
    }
    if (const auto until = queue.look_again()) {
      waiter.changed.wait_until(lock, *until);
    } else {
      waiter.changed.wait(lock);
    }
  }
}

DeviceScheduler::Turn::~Turn() {
  if (held_ != nullptr) taker_->give_back(held_);
}

bool DeviceScheduler::Turn::pause() {
  if (held_ == nullptr) return false;
  held_ = taker_->pause(held_);
  return held_ != nullptr;
}

void DeviceScheduler::prepare(int more) {
  const std::lock_guard lock(mutex_);
  queue_.prepare(more, now());
}

Expected<DeviceScheduler::Turn> TurnTaker::take(const TurnRequest& request) {
  std::unique_lock lock(scheduler_.mutex_);
  Waiter waiter{waiting(request), this};
  TurnQueue& queue = scheduler_.queue_;
  queue.ask(waiter);
  for (TimePoint at = now();; at = now()) {
    const bool late = request.deadline && *request.deadline <= at;
    if (late || closed_) {
      if (waiter.held != nullptr) {
        queue.give_back(*waiter.held, at);
      } else {
        queue.leave(waiter);
      }
      scheduler_.give_turns(at);  // it may have been in the way of another one
      scheduler_.look_again();
      if (closed_) return fail(ErrorCode::kClosed, "its stage was closed");
      return fail(ErrorCode::kTimeout, "its deadline passed {:.3g} ms ago, before it was computed",
                  to_milliseconds(at - *request.deadline));
    }
    scheduler_.give_turns(at);
    if (waiter.held != nullptr) return keep(waiter.held);
    const Deadline until = earlier(request.deadline, queue.look_again());
    if (until) {
      waiter.changed.wait_until(lock, *until);
    } else {
      waiter.changed.wait(lock);
    }
  }
}

std::optional<DeviceScheduler::Turn> TurnTaker::try_take(const TurnRequest& request) {
  const std::lock_guard lock(scheduler_.mutex_);
  if (closed_) return std::nullopt;
  const TimePoint at = now();
  // It does not push in before those who wait.
  if (!scheduler_.queue_.waiting().empty() || (request.deadline && *request.deadline <= at)) {
    return std::nullopt;
  }
  WaitingTurn turn = waiting(request);
  HeldTurn* held = nullptr;
  scheduler_.queue_.ask(turn);
  if (scheduler_.queue_.next(at, held) == nullptr) {
    scheduler_.queue_.leave(turn);
    return std::nullopt;
  }
  return keep(held);
}

void TurnTaker::close() {
  const std::lock_guard lock(scheduler_.mutex_);
  closed_ = true;
  for (WaitingTurn* const waiting : scheduler_.queue_.waiting()) {
    auto& waiter = static_cast<Waiter&>(*waiting);
    if (waiter.taker == this) waiter.changed.notify_one();
  }
}

void TurnTaker::let_go() {
  const std::lock_guard lock(scheduler_.mutex_);
  const TimePoint at = now();
  for (HeldTurn* const held : turns_) scheduler_.queue_.let_go(*held, at);
  scheduler_.give_turns(at);
  scheduler_.look_again();
}

}  // namespace pareto::daemon::device
