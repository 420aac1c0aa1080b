#include "coordinator/results/time_spent.h"

#include <algorithm>

namespace pareto::results {

TimeSpent time_spent(const RunRecord& run) {
  TimeSpent all;
  for (const PassRecord& pass : run.passes) {
    const TimeSpent& spent = pass.spent;
    for (const auto part : {&TimeSpent::total_s, &TimeSpent::measuring_s, &TimeSpent::sentinel_s,
                            &TimeSpent::loading_s, &TimeSpent::opening_s, &TimeSpent::network_s}) {
      all.*part += spent.*part;
    }
    all.openings_ms.insert(all.openings_ms.end(), spent.openings_ms.begin(),
                           spent.openings_ms.end());
    all.requests += spent.requests;
  }
  return all;
}

double dead_share(const TimeSpent& spent) {
  if (spent.total_s <= 0) return 0;
  return std::max(0.0, 1 - (spent.measuring_s + spent.sentinel_s) / spent.total_s);
}

}  // namespace pareto::results
