#include "coordinator/results/simulated.h"

#include <array>
#include <nlohmann/json.hpp>

#include "coordinator/results/run_options.h"
#include "core/base/json_text.h"

namespace pareto::results {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKey = "simulated";

}  // namespace

std::string_view to_string(Simulated simulated) {
  constexpr std::array<std::string_view, 3> kNames{"", "figures", "predictions"};
  return kNames.at(static_cast<std::size_t>(simulated));
}

Simulated simulated_in(const RunRecord& run) {
  const Json options = run_options(run);
  const auto said = options.find(kKey);
  for (const Simulated one : {Simulated::kFigures, Simulated::kPredictions}) {
    if (said != options.end() && *said == to_string(one)) return one;
  }
  return Simulated::kNothing;
}

void mark_simulated(RunRecord& run, Simulated simulated) {
  Json options = run_options(run);
  options[kKey] = to_string(simulated);
  run.options_json = dump(options);
}

}  // namespace pareto::results
