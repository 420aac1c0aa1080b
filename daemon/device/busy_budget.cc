#include "daemon/device/busy_budget.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pareto::daemon::device {

BusyBudget::BusyBudget(const BusyLimit& limit, TimePoint now, ProcessorClock processor)
    : limit_(limit),
      processor_(std::move(processor)),
      counted_(now),
      processor_at_(processor_ ? processor_() : Nanoseconds(0)),
      left_(most()) {}

double BusyBudget::counted(double passed, const BusyUse& use) {
  if (!processor_) return passed * use.held;
  const Nanoseconds processor = processor_();
  const double worked = to_seconds(processor - std::exchange(processor_at_, processor));
  if (use.prepares) return std::min(worked, passed * use.held);
  return std::max(worked, passed * use.elsewhere);
}

void BusyBudget::count(TimePoint now, const BusyUse& use) {
  const double passed = to_seconds(now - counted_);
  if (passed <= 0) return;
  counted_ = now;
  used_ += passed * use.held;
  if (unlimited()) return;  // reading the processor clock takes microseconds
  left_ = std::min(left_ + passed * per_second() - counted(passed, use), most());
}

std::optional<TimePoint> BusyBudget::opens_at(int held) const {
  const double gained = per_second() - held;
  if (open() || gained <= 0) return std::nullopt;
  // Who looks uses up what a shorter wait gains.
  const double wait = std::clamp(-left_ / gained, 1e-4, 3600.0);
  return counted_ + from_nanoseconds(std::floor(wait * 1e9)) + Nanoseconds(1);
}

void BusyBudget::set_share(double share) {
  if (unlimited() && processor_) processor_at_ = processor_();
  limit_.share = share;
  left_ = std::min(left_, most());
}

}  // namespace pareto::daemon::device
