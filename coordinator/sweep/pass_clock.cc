#include "coordinator/sweep/pass_clock.h"

#include <utility>

namespace pareto::sweep {

PassClock::PassClock(const Clock& clock, std::vector<results::PassRecord>& passes,
                     std::optional<double> budget_s)
    : clock_(clock), passes_(passes), budget_s_(budget_s), taken_(clock.now()) {}

void PassClock::begin_pass() { pass_began_ = clock_.now(); }

void PassClock::count_pass() { passes_.back().seconds = to_seconds(clock_.now() - pass_began_); }

double PassClock::seconds_spent() const {
  double spent = 0;
  for (const results::PassRecord& pass : passes_) spent += pass.seconds;
  return spent;
}

results::TimeSpent PassClock::take_spent() {
  const TimePoint now = clock_.now();
  spent_.total_s = to_seconds(now - std::exchange(taken_, now));
  return std::exchange(spent_, {});
}

}  // namespace pareto::sweep
