// Operators of our own in graphs of LibTorch. Sees LibTorch: for sources of runtime only.
#pragma once

#include <torch/csrc/jit/runtime/operator.h>

#include <string>
#include <utility>

namespace pareto::runtime {

/// Puts an operator into LibTorch's table, where graphs find it by its name, and returns that name.
/// `schema` is as in "pareto::ready(Any result) -> ()". Throws if the table has one of that schema:
/// call it once in a process.
inline c10::Symbol register_operator(const std::string& schema, torch::jit::Operation operation,
                                     c10::AliasAnalysisKind aliases) {
  torch::jit::registerOperator(torch::jit::Operator(schema, std::move(operation), aliases));
  return c10::Symbol::fromQualString(schema.substr(0, schema.find('(')));
}

}  // namespace pareto::runtime
