// Finds the operators that a rule of a user's program marks. Free of LibTorch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/schedules/program.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::schedules {

/// Operators that a rule makes one unit, in ascending order, and the unit's name.
struct Match {
  std::vector<std::size_t> operators{};
  std::string name{};
};

/// Returns what a rule finds, by its first operator. A rule with `join` has one match for each
/// operator, to be joined.
std::vector<Match> find_matches(const UnitRule& rule, const WeightedGraph& graph);

/// Says why a rule found nothing: 'no module fits "Mixd_*" (did you mean Mixed_5b?)'.
std::string why_no_match(const UnitRule& rule, const WeightedGraph& graph);
}  // namespace pareto::schedules
