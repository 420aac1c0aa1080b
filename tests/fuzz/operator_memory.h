// Whether operators return memory that they were given. Sees LibTorch.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <vector>

namespace pareto::fuzz {

/// Returns whether a call returned memory of its arguments although runtime/torch/returned_memory.h
/// says that the operator's is its own.
bool returns_given_memory(const c10::FunctionSchema& schema,
                          const std::vector<c10::IValue>& arguments,
                          const std::vector<c10::IValue>& results);

}  // namespace pareto::fuzz
