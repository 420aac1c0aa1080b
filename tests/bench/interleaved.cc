#include "tests/bench/interleaved.h"

#include <time.h>

#include <algorithm>

namespace pareto::bench {

Nanoseconds processor_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + Nanoseconds(spent.tv_nsec);
}

namespace {

using Contestants = std::vector<std::function<Expected<>()>>;

/// Returns all times of each contestant, by what `now` shows.
template <typename Now>
Expected<std::vector<std::vector<Nanoseconds>>> interleaved_times(const Contestants& contestants,
                                                                  Nanoseconds duration,
                                                                  int min_rounds, const Now& now) {
  const SteadyClock clock;
  std::vector<std::vector<Nanoseconds>> times(contestants.size());
  for (const auto& warm_up : contestants) PARETO_TRY(warm_up());
  const TimePoint begin = clock.now();
  for (int round = 0; round < min_rounds || clock.now() - begin < duration; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const Nanoseconds start = now();
      PARETO_TRY(contestants[i]());
      times[i].push_back(now() - start);
    }
  }
  return times;
}

}  // namespace

Expected<std::vector<Nanoseconds>> interleaved_minima(const Contestants& contestants,
                                                      Nanoseconds duration, int min_rounds) {
  PARETO_ASSIGN(const auto times,
                interleaved_times(contestants, duration, min_rounds, processor_time));
  std::vector<Nanoseconds> best;
  for (const auto& each : times) best.push_back(*std::ranges::min_element(each));
  return best;
}

Expected<std::vector<Nanoseconds>> interleaved_medians(const Contestants& contestants,
                                                       Nanoseconds duration, int min_rounds) {
  const auto now = [] { return Nanoseconds(SteadyClock().now().time_since_epoch()); };
  PARETO_ASSIGN(auto times, interleaved_times(contestants, duration, min_rounds, now));
  std::vector<Nanoseconds> medians;
  for (auto& each : times) {
    const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
    std::ranges::nth_element(each, middle);
    medians.push_back(*middle);
  }
  return medians;
}

}  // namespace pareto::bench
