// Operators that write their result into a tensor that they are given. Sees LibTorch: for sources
// of runtime and tests only.
#pragma once

#include <ATen/core/function_schema.h>

#include <algorithm>

namespace pareto::runtime {

/// Returns whether an operator writes its result into a tensor that it is given ("out=" in Python).
/// It gives that tensor as much memory as it takes, while other runs may use what it had, and
/// kernels check such tensors less. Operators that work in place take what they write first.
inline bool is_given_its_result(const c10::FunctionSchema& schema) {
  return std::ranges::any_of(schema.arguments(), [](const c10::Argument& argument) {
    return (argument.kwarg_only() || argument.name() == "out") &&
           argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  });
}

}  // namespace pareto::runtime
