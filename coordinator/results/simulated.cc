#include "coordinator/results/simulated.h"

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/json_text.h"

namespace pareto::results {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKey = "simulated";

/// Returns the options; empty if the run has none, or none that can be read.
Json options_of(const RunRecord& run) {
  Json options = Json::parse(run.options_json, nullptr, /*allow_exceptions=*/false);
  return options.is_object() ? options : Json::object();
}

}  // namespace

std::string_view to_string(Simulated simulated) {
  constexpr std::array<std::string_view, 3> kNames{"", "figures", "predictions"};
  return kNames.at(static_cast<std::size_t>(simulated));
}

Simulated simulated_in(const RunRecord& run) {
  const Json options = options_of(run);
  const auto said = options.find(kKey);
  for (const Simulated one : {Simulated::kFigures, Simulated::kPredictions}) {
    if (said != options.end() && *said == to_string(one)) return one;
  }
  return Simulated::kNothing;
}

void mark_simulated(RunRecord& run, Simulated simulated) {
  Json options = options_of(run);
  options[kKey] = to_string(simulated);
  run.options_json = dump(options);
}

}  // namespace pareto::results
