#include "tests/bench/interleaved.h"

#include <time.h>

#include <algorithm>

namespace pareto::bench {

Nanoseconds processor_time() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + Nanoseconds(spent.tv_nsec);
}

Expected<std::vector<Nanoseconds>> interleaved_minima(
    const std::vector<std::function<Expected<>()>>& contestants, Nanoseconds duration,
    int min_rounds) {
  const SteadyClock clock;
  std::vector<Nanoseconds> best(contestants.size(), Nanoseconds::max());
  for (const auto& warm_up : contestants) PARETO_TRY(warm_up());
  const TimePoint begin = clock.now();
  for (int round = 0; round < min_rounds || clock.now() - begin < duration; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const Nanoseconds start = processor_time();
      PARETO_TRY(contestants[i]());
      best[i] = std::min(best[i], processor_time() - start);
    }
  }
  return best;
}

}  // namespace pareto::bench
