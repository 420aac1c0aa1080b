#include "daemon/device/busy_budget.h"

#include <algorithm>
#include <cmath>

namespace pareto::daemon {

BusyBudget::BusyBudget(double share, int cores, TimePoint now)
    : share_(share),
      cores_(cores),
      counted_(now),
      left_(per_second() * static_cast<double>(kKept.count())) {}

void BusyBudget::count(TimePoint now, int held) {
  const double passed = to_seconds(now - counted_);
  if (passed <= 0) return;
  counted_ = now;
  used_ += passed * held;
  const double most = per_second() * static_cast<double>(kKept.count());
  left_ = std::min(left_ + passed * (per_second() - held), most);
}

std::optional<TimePoint> BusyBudget::opens_at(int held) const {
  const double gained = per_second() - held;
  if (open() || gained <= 0) return std::nullopt;
  // Rounded up, so that there is something left then.
  const double wait = std::min(-left_ / gained, 3600.0);
  return counted_ + from_nanoseconds(std::floor(wait * 1e9)) + Nanoseconds(1);
}

void BusyBudget::set_share(double share) {
  share_ = share;
  left_ = std::min(left_, per_second() * static_cast<double>(kKept.count()));
}

}  // namespace pareto::daemon
