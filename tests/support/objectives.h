// Objectives by their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::test {

inline const planning::Objective& objective(std::string_view name) {
  return *planning::find_objectives({std::string(name)}, planning::all_objectives())->front();
}

/// Returns what a plan has of a searched objective, at every window alike.
inline std::int64_t value_of(const planning::Evaluation& evaluation, std::string_view name) {
  return evaluation.value(objective(name));
}
inline std::int64_t& value_of(planning::Evaluation& evaluation, std::string_view name) {
  return evaluation.values[planning::searched_place(objective(name))];
}

/// Returns every choice of one or of two objectives that plans are searched by.
inline std::vector<std::vector<const planning::Objective*>> singles_and_pairs() {
  std::vector<std::vector<const planning::Objective*>> all;
  const auto& searched = planning::searched_objectives();
  for (std::size_t i = 0; i < searched.size(); ++i) {
    all.push_back({searched[i]});
    for (std::size_t j = 0; j < i; ++j) all.push_back({searched[i], searched[j]});
  }
  return all;
}

}  // namespace pareto::test
