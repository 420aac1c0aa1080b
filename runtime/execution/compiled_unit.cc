#include "runtime/execution/compiled_unit.h"

#include <algorithm>
#include <utility>

namespace pareto::runtime {
namespace {

/// Returns the values that each unit gives to others or to the result.
std::vector<std::vector<std::size_t>> outputs_of(const schedules::Timetable& timetable,
                                                 const OperatorGraph& operators,
                                                 const std::vector<std::size_t>& results) {
  std::vector<std::size_t> unit_of(operators.size());
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    for (const std::size_t one : timetable.units[unit].operators) unit_of[one] = unit;
  }
  std::vector<std::vector<std::size_t>> outputs(timetable.units.size());
  const auto give = [&](std::size_t value) {
    if (value < operators.first_made()) return;
    auto& given = outputs[unit_of[operators.maker(value)]];
    if (std::ranges::find(given, value) == given.end()) given.push_back(value);
  };
  for (std::size_t unit = 0; unit < timetable.units.size(); ++unit) {
    // Its graph's inputs are all made outside it.
    for (const std::size_t value : operators.cut(timetable.units[unit].operators, {}).inputs) {
      give(value);
    }
  }
  for (const std::size_t value : results) give(value);
  return outputs;
}

}  // namespace

std::vector<CompiledUnit> compile_units(const schedules::Timetable& timetable,
                                        const OperatorGraph& operators) {
  const auto outputs = outputs_of(timetable, operators, operators.cut_result().inputs);
  std::vector<CompiledUnit> units;
  for (std::size_t i = 0; i < timetable.units.size(); ++i) {
    const schedules::Unit& unit = timetable.units[i];
    CutGraph cut = operators.cut(unit.operators, outputs[i]);
    units.push_back({torch::jit::Code(cut.graph, "unit"), std::move(cut.inputs),
                     std::move(cut.outputs), unit.whole || timetable.parts == 1});
  }
  return units;
}

CompiledUnit compile_result(const OperatorGraph& operators) {
  CutGraph result = operators.cut_result();
  return {torch::jit::Code(result.graph, "result"), std::move(result.inputs), {}, true};
}

}  // namespace pareto::runtime
