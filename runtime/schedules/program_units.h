// Makes units of the operators that a user's program marks, and of those between them. Free of
// LibTorch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "runtime/schedules/program.h"
#include "runtime/schedules/timetable.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::schedules {

/// Stands for no rule: that of units whose operators no rule marks.
constexpr std::size_t kNoRule = static_cast<std::size_t>(-1);

struct MarkedUnits {
  std::vector<Unit> units{};           ///< each waits only for units before it
  std::vector<std::size_t> rule_of{};  ///< by unit: its place in Program::units, or kNoRule
};

/// Makes units of a graph. Operators that no rule marks, and those of a rule with `join`, are
/// joined: those that follow each other are one unit, unless units would then wait for each other.
/// If the graph is `partial`, a part of a model, rules may mark nothing.
/// Fails: kInvalidArgument (a rule that marks nothing, an operator that two rules mark, units that
/// wait for each other).
Expected<MarkedUnits> mark_units(const Program& program, const WeightedGraph& graph, bool partial);

/// Returns 'units[1] ("pooling")', for errors.
std::string rule_name(const Program& program, std::size_t rule);

}  // namespace pareto::schedules
