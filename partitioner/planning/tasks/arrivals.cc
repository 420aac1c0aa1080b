#include "partitioner/planning/tasks/arrivals.h"

#include <algorithm>
#include <cmath>

#include "core/base/file.h"
#include "partitioner/planning/simulation/scenario_file.h"

namespace pareto::tasks {
namespace {

constexpr std::uint64_t kMostTraceBytes = 64 << 20;
constexpr std::string_view kPoisson = "poisson:";
constexpr std::string_view kTrace = "trace:";

}  // namespace

Expected<Arrivals> parse_arrivals(const std::string& text, const std::filesystem::path& folder) {
  Arrivals arrivals;
  if (text == "together") return arrivals;
  if (text.starts_with(kPoisson)) {
    PARETO_ASSIGN(arrivals.rate_per_s,
                  with_context(simulation::parse_request_rate(text.substr(kPoisson.size())),
                               "arrivals {}", text));
    return arrivals;
  }
  if (text.starts_with(kTrace)) {
    const std::filesystem::path path = folder / text.substr(kTrace.size());
    PARETO_ASSIGN(const std::string trace, read_file(path, kMostTraceBytes));
    PARETO_ASSIGN(arrivals.gaps, simulation::parse_arrival_trace(trace, path.string()));
    return arrivals;
  }
  return fail(ErrorCode::kInvalidArgument,
              "arrivals \"{}\": there are together, poisson:RATE (as in poisson:20/s) and "
              "trace:FILE",
              text);
}

std::vector<Nanoseconds> arrival_times(const Arrivals& arrivals, std::size_t count,
                                       std::mt19937_64& random) {
  std::vector<Nanoseconds> times(count);
  Nanoseconds at{};
  // Later than all that is possible, and far from what a number cannot hold.
  constexpr Nanoseconds kNever = 2 * kLatestArrival;
  for (std::size_t i = 0; i < count; ++i) {
    Nanoseconds gap{};
    if (arrivals.rate_per_s > 0) {
      const double seconds = -std::log1p(-draw_share(random)) / arrivals.rate_per_s;
      gap = seconds < to_seconds(kNever) ? from_nanoseconds(seconds * 1e9) : kNever;
    } else if (!arrivals.gaps.empty() && i > 0) {
      gap = arrivals.gaps[i % arrivals.gaps.size()];
    }
    at = std::min(at + std::min(gap, kNever), kNever);
    times[i] = at;
  }
  return times;
}

Expected<> check_arrivals(const TaskSet& set) {
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    if (set.tasks[i].arrival <= kLatestArrival) continue;
    return fail(ErrorCode::kInvalidArgument,
                "task {} comes more than {} hours after the start: let tasks come more often", i,
                kLatestArrival.count());
  }
  return {};
}

double draw_share(std::mt19937_64& random) {
  constexpr int kBits = 53;
  return std::ldexp(static_cast<double>(random() >> (64 - kBits)), -kBits);
}

}  // namespace pareto::tasks
