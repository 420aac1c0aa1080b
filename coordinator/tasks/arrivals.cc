#include "coordinator/tasks/arrivals.h"

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
  for (std::size_t i = 0; i < count; ++i) {
    if (arrivals.rate_per_s > 0) {
      at += from_nanoseconds(-std::log1p(-draw_share(random)) / arrivals.rate_per_s * 1e9);
    } else if (!arrivals.gaps.empty() && i > 0) {
      at += arrivals.gaps[i % arrivals.gaps.size()];
    }
    times[i] = at;
  }
  return times;
}

double draw_share(std::mt19937_64& random) {
  constexpr int kBits = 53;
  return std::ldexp(static_cast<double>(random() >> (64 - kBits)), -kBits);
}

}  // namespace pareto::tasks
