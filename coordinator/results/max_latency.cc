#include "coordinator/results/max_latency.h"

#include <nlohmann/json.hpp>

namespace pareto::results {

std::optional<double> max_latency_ms(const RunRecord& run) {
  const auto options = nlohmann::json::parse(run.options_json, nullptr, /*allow_exceptions=*/false);
  if (!options.is_object()) return std::nullopt;
  const auto found = options.find("max_latency_ms");
  if (found == options.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace pareto::results
