#include "coordinator/results/max_latency.h"

#include <nlohmann/json.hpp>

#include "coordinator/results/run_options.h"

namespace pareto::results {

std::optional<double> max_latency_ms(const RunRecord& run) {
  const auto options = run_options(run);
  const auto found = options.find("max_latency_ms");
  if (found == options.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace pareto::results
