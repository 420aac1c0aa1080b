#include "coordinator/sweep/measuring_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "coordinator/statistics/statistics.h"
#include "core/base/clock.h"

namespace pareto::sweep {

bool SlowRequestRule::runs_differ(std::span<const double> intervals_s, std::size_t length) const {
  const std::vector<double> times = statistics::run_times(intervals_s, length);
  if (times.empty()) return false;
  const auto [shortest, longest] = std::ranges::minmax(times);
  return longest > (1 + difference) * shortest;
}

bool PauseRule::is_seen_in(std::span<const double> latencies_ms) const {
  if (latencies_ms.empty()) return false;
  const double usual = statistics::median(latencies_ms);
  const double slowest = std::ranges::max(latencies_ms);
  return slowest > std::max(usual + to_milliseconds(longer_by), usual * times_as_long);
}

std::string MeasuringRules::describe(const UnitBudget& budget) const {
  return fmt::format(
      "A unit is one trial in one round, and takes a slice of {:.2f} s. On a new connection it "
      "discards {} requests and measures again, at most {} times, until the halves of its "
      "latencies agree within 1 % or do not differ. Later units discard {} requests. Latency has "
      "window 1 and {} requests a unit. If these exceed two fifths of the slice, there are "
      "fewer, but at least {}. Of replicas the slowest of each turn counts. Throughput is the "
      "slope of the completions in whole windows, after the first two windows and before the "
      "last one. It takes {} latencies and at least {} s within the rest of the slice, but at "
      "least {} completions. A window that is not given is the smallest within 1 % of the best "
      "throughput. It is searched in a trial's first unit, from 1.25 x latency / bottleneck to "
      "twice as much, by two loads a window of at least {} completions. An adaptive sweep takes "
      "the predicted window, and at least 1.25 x latency / bottleneck. If a request took {} ms "
      "longer than most, and half as long again, a connection paused. Throughput is then that of "
      "the load with the median time, of {}. Plans whose requests take more than {} ms are "
      "measured with fewer of them. One is discarded, and at least {} count for latency. Their "
      "throughput takes at least {} completions a run, after one window and up to the last, at a "
      "window of 1.25 x latency / bottleneck. Of {} such runs, the one with the median time "
      "counts. If one of them took {:.0f} % longer than another, as many are measured again, and "
      "the median is that of all. Intervals are 95 %: Student's, of the rounds' logarithms, with "
      "each round as one observation. They are no narrower than those of a stationary block "
      "bootstrap within the rounds, with blocks of 5 x the correlation length.",
      budget.slice.count(), statistics::warm_up_requests(1), latency.warm_up_tries,
      latency.rewarm_requests, budget.latency_requests,
      std::min(latency.fewest_requests, budget.latency_requests), throughput.latencies,
      throughput.shortest.count(), throughput.fewest_intervals, throughput.search_intervals,
      pause.longer_by.count(), pause.loads, slow.longer_than_ms,
      std::min(slow.fewest_requests, budget.latency_requests), slow.fewest_intervals, slow.runs,
      100 * slow.difference);
}

}  // namespace pareto::sweep
