#include "netem/rate_changer.h"

#include <stop_token>
#include <utility>

namespace pareto::netem {

plan::LinkDirection at_first(plan::LinkDirection direction) {
  const Trace::State state = Trace(direction).at(Nanoseconds(0));
  direction.delay = state.delay;
  direction.bits_per_second = state.bits_per_second;
  return direction;
}

RateChanger::RateChanger(const plan::LinkDirection& direction, Follows follows, Apply apply)
    : direction_(at_first(direction)),
      trace_(direction),
      follows_(follows),
      apply_(std::move(apply)) {
  const bool changes =
      trace_.changes_rate() || (follows == Follows::kRateAndDelay && !direction.trace.empty());
  if (changes) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

RateChanger::~RateChanger() = default;

Expected<> RateChanger::check() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void RateChanger::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Trace::State state = trace_.at(std::chrono::steady_clock::now() - start_);
    Expected<> changed;
    if (take(state)) changed = apply_(direction_);
    std::unique_lock lock(mutex_);
    if (failure_) failure_ = std::move(changed);
    if (!state.until) return;
    stopped_.wait_until(lock, stop, start_ + *state.until, [] { return false; });
  }
}

bool RateChanger::take(const Trace::State& state) {
  bool news =
      std::exchange(direction_.bits_per_second, state.bits_per_second) != state.bits_per_second;
  if (follows_ == Follows::kRateAndDelay) {
    news = std::exchange(direction_.delay, state.delay) != state.delay || news;
  }
  return news;
}

}  // namespace pareto::netem
