#include "coordinator/failover/switch_rule.h"

#include <algorithm>

namespace pareto::failover {

bool SwitchRule::consider(double gain, double spread, TimePoint now) {
  if (gain < std::max(rules_.least_gain, spread)) {
    better_since_.reset();
    return false;
  }
  if (!better_since_) better_since_ = now;
  return now - *better_since_ >= rules_.hold && (!last_ || now - *last_ >= pause_for(gain));
}

Nanoseconds SwitchRule::pause_for(double gain) const {
  if (refusal_ > Nanoseconds(0)) return refusal_;
  const double share = rules_.least_gain / std::max(gain, rules_.least_gain);
  return std::max(rules_.dwell,
                  from_nanoseconds(rules_.cost_ratio * share * to_nanoseconds(cost_)));
}

void SwitchRule::made(Nanoseconds cost, TimePoint now) {
  better_since_.reset();
  last_ = now;
  cost_ = cost;
  refusal_ = Nanoseconds(0);
}

void SwitchRule::refused(TimePoint now) {
  better_since_.reset();
  last_ = now;
  refusal_ = std::clamp(2 * refusal_, rules_.dwell, std::max(rules_.dwell, rules_.longest_dwell));
}

}  // namespace pareto::failover
