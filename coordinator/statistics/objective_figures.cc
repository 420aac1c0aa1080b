#include "coordinator/statistics/objective_figures.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/json_integer.h"
#include "core/base/json_parse.h"
#include "core/base/text.h"

namespace pareto::statistics {
namespace {

nlohmann::json options_of(const results::RunRecord& run) {
  auto options = parse_json_or_discard<nlohmann::json>(run.options_json);
  return options.is_object() ? options : nlohmann::json::object();
}

bool is_usual(const std::vector<std::string>& names) {
  return std::set<std::string>(names.begin(), names.end()) ==
         std::set<std::string>{"latency", "throughput"};
}

}  // namespace

FiguresByDevice device_figures(const results::RunRecord& run) {
  const nlohmann::json options = options_of(run);
  FiguresByDevice figures;
  const auto read = [](const nlohmann::json& value, std::int64_t& into) {
    if (const auto whole = integer_in<std::int64_t>(value); whole && *whole >= 0) into = *whole;
  };
  if (const auto found = options.find("device_figures");
      found != options.end() && found->is_object()) {
    for (const auto& [device, of] : found->items()) {
      if (!of.is_object()) continue;
      for (const auto& [key, value] : of.items()) read(value, figures[device][key]);
    }
  }
  // Runs of earlier versions kept powers only.
  if (const auto found = options.find("milliwatts"); found != options.end() && found->is_object()) {
    for (const auto& [device, value] : found->items()) read(value, figures[device]["power"]);
  }
  return figures;
}

void fill_objectives(results::RunRecord& run) {
  const FiguresByDevice figures = device_figures(run);
  std::set<std::string_view> known;
  for (results::TrialRecord& trial : run.trials) {
    trial.objectives.clear();
    if (!is_measured(trial)) continue;
    const planning::Measurement measurement = measurement_of(trial, figures);
    for (const planning::Objective& objective : planning::builtin_objectives()) {
      const double value = objective.read(measurement);
      if (!std::isfinite(value)) continue;
      trial.objectives.push_back({std::string(objective.name), value});
      known.insert(objective.name);
    }
  }
  run.objectives.clear();
  for (const planning::Objective& objective : planning::builtin_objectives()) {
    if (!known.contains(objective.name)) continue;
    run.objectives.push_back({std::string(objective.name), std::string(objective.title),
                              std::string(objective.unit),
                              objective.direction == planning::Direction::kSmallerIsBetter});
  }
  const nlohmann::json options = options_of(run);
  const auto chosen = options.find("objectives");
  if (chosen == options.end() || !chosen->is_array()) return;
  std::vector<std::string> names;
  for (const auto& name : *chosen) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  // Of a run that has not measured yet there is no front to make.
  static_cast<void>(choose_objectives(run, names));
}

Expected<std::vector<const planning::Objective*>> objectives_of_front(
    const std::vector<std::string>& names) {
  PARETO_ASSIGN(auto objectives, planning::find_objectives(names, planning::all_objectives()));
  if (objectives.size() >= 2) return objectives;
  return fail(ErrorCode::kInvalidArgument, "a front needs two objectives or more");
}

Expected<> choose_objectives(results::RunRecord& run, const std::vector<std::string>& names) {
  PARETO_ASSIGN(const auto objectives, objectives_of_front(names));
  for (const planning::Objective* const row : objectives) {
    if (std::ranges::find(run.objectives, row->name, &results::ObjectiveRecord::name) !=
        run.objectives.end()) {
      continue;
    }
    std::vector<std::string> known;
    for (const results::ObjectiveRecord& one : run.objectives) known.push_back(one.name);
    const std::string remedy =
        row->needs
            ? fmt::format(" (say \"{}\" next to each device in the inventory)", row->needs->example)
            : std::string();
    return fail(ErrorCode::kInvalidArgument,
                "no plan of run {} has a figure of objective \"{}\"{}; it has {}", run.id,
                row->name, remedy, known.empty() ? "none yet" : join(known));
  }
  run.axes = names;
  mark_on_front(run.trials, objectives, device_figures(run));
  if (is_usual(names)) return {};
  for (results::TrialRecord& trial : run.trials) trial.p_front = results::kUnsettled;
  return {};
}

}  // namespace pareto::statistics
