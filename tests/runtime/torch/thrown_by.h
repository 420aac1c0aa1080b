// Runs an operator with the checks that shards are run with, and tells what it throws.
#pragma once

#include <torch/csrc/jit/runtime/operator.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/torch/given_result.h"
#include "runtime/torch/safe_operators.h"
#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {

/// Returns what code throws that computes an expression of tensors.
inline std::string thrown_by_layer(const std::string& arguments, const std::string& expression,
                                   std::vector<c10::IValue> values) {
  install_safe_operators();
  try {
    module_of("def run(self, " + arguments + "):\n    return " + expression + "\n")
        .get_method("run")(std::move(values));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

/// Returns what an operator returns, called as the interpreter calls it. `overload`: its name; any
/// that shards may use for null. Throws as it does.
inline c10::IValue result_of_operator(const char* name, torch::jit::Stack values,
                                      const char* overload = nullptr) {
  install_safe_operators();
  for (const auto& known : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
    const c10::FunctionSchema& schema = known->schema();
    const bool is_meant =
        overload != nullptr ? schema.overload_name() == overload : !is_given_its_result(schema);
    if (!is_meant) continue;
    known->getOperation()(values);
    return values.at(0);
  }
  throw std::runtime_error("there is no such operator");
}

/// Returns what it throws.
inline std::string thrown_by_operator(const char* name, torch::jit::Stack values,
                                      const char* overload = nullptr) {
  try {
    result_of_operator(name, std::move(values), overload);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace pareto::runtime
