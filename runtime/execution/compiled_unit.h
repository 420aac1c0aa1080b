// Units of a timetable as LibTorch runs them. Sees LibTorch: for runtime sources only.
#pragma once

#include <torch/script.h>

#include <cstddef>
#include <vector>

#include "runtime/execution/operator_graph.h"
#include "runtime/schedules/timetable.h"

namespace pareto::runtime {

/// A unit, compiled.
struct CompiledUnit {
  torch::jit::Code code;
  std::vector<std::size_t> inputs;   ///< numbers of the values that it takes
  std::vector<std::size_t> outputs;  ///< numbers of the values that it gives to others
  bool whole = false;                ///< it runs once, on the whole batch
};

/// Returns one for each unit. Throws c10::Error.
std::vector<CompiledUnit> compile_units(const schedules::Timetable& timetable,
                                        const OperatorGraph& operators);
/// Returns what puts the result together: it runs once, on the whole batch. Throws c10::Error.
CompiledUnit compile_result(const OperatorGraph& operators);

}  // namespace pareto::runtime
