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
      "A unit (one trial in one round) has a slice of "
      "{:.2f} s. A trial's first unit on a connection discards {} requests, then measures again "
      "(at most {} times) until the halves "
      "of its latencies agree within 1 % or do not differ; later units discard {}. Latency: window "
      "1, {} requests a unit, fewer "
      "where they exceed two fifths of the slice, at least {}; of replicas the slowest of each "
      "turn. Throughput: slope of the "
      "completions after the first 2 x window and "
      "before the last window, in whole windows, for {} latencies and at least {} s, within the "
      "rest of the slice "
      "but for {} completions at least. A window that is not given is the smallest within 1 % of "
      "the best throughput, searched in a trial's first unit from 1.25 x latency / bottleneck to "
      "twice as much, by two loads a window of at least {} completions; in an adaptive sweep it is "
      "the predicted one, and at least 1.25 x latency / bottleneck. Where a request took {} ms "
      "longer than most, and half as long again, a connection paused, and throughput is that of "
      "the load which is the median of {}. Plans whose requests take more than "
      "{} ms have fewer of all: one discarded, at least {} for latency and {} "
      "completions for throughput after one window and up to the last, that one of {} such runs "
      "which took the median time, at a window of 1.25 x latency / bottleneck; where one took "
      "{:.0f} % longer than another, so many are measured again, and it is that of all. "
      "Intervals: 95 %, Student's of the rounds' logarithms, a round one "
      "observation, and no narrower than by a stationary block bootstrap within the rounds, blocks "
      "of 5 x the correlation length.",
      budget.slice.count(), statistics::warm_up_requests(1), latency.warm_up_tries,
      latency.rewarm_requests, budget.latency_requests,
      std::min(latency.fewest_requests, budget.latency_requests), throughput.latencies,
      throughput.shortest.count(), throughput.fewest_intervals, throughput.search_intervals,
      pause.longer_by.count(), pause.loads, slow.longer_than_ms,
      std::min(slow.fewest_requests, budget.latency_requests), slow.fewest_intervals, slow.runs,
      100 * slow.difference);
}

}  // namespace pareto::sweep
