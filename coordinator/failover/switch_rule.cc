#include "coordinator/failover/switch_rule.h"

#include <algorithm>

namespace pareto::failover {

bool SwitchRule::consider(double gain, double spread, TimePoint now) {
  if (gain < std::max(rules_.least_gain, spread)) {
    better_since_.reset();
    return false;
  }
  if (!better_since_) better_since_ = now;
  return now - *better_since_ >= rules_.hold && (!not_before_ || now >= *not_before_);
}

void SwitchRule::made(Nanoseconds cost, TimePoint now) {
  better_since_.reset();
  pause_ = std::max(rules_.dwell, from_nanoseconds(rules_.cost_ratio * to_nanoseconds(cost)));
  not_before_ = now + pause_;
}

void SwitchRule::refused(TimePoint now) {
  better_since_.reset();
  pause_ = std::clamp(2 * pause_, rules_.dwell, std::max(rules_.dwell, rules_.longest_dwell));
  not_before_ = now + pause_;
}

}  // namespace pareto::failover
