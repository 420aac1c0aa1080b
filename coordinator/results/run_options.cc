#include "coordinator/results/run_options.h"

#include "core/base/json_parse.h"

namespace pareto::results {

nlohmann::ordered_json run_options(const RunRecord& run) {
  auto options = parse_json_or_discard<nlohmann::ordered_json>(run.options_json);
  return options.is_object() ? options : nlohmann::ordered_json::object();
}

}  // namespace pareto::results
