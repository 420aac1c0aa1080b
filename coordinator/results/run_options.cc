#include "coordinator/results/run_options.h"

#include <nlohmann/json.hpp>

namespace pareto::results {

nlohmann::ordered_json run_options(const RunRecord& run) {
  auto options =
      nlohmann::ordered_json::parse(run.options_json, nullptr, /*allow_exceptions=*/false);
  return options.is_object() ? options : nlohmann::ordered_json::object();
}

}  // namespace pareto::results
