// Calls of operators that values made by chance hardly ever fit. Sees LibTorch.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

namespace pareto::fuzz {

/// Returns arguments with which an operator succeeds. Empty: there is no example of it.
std::optional<std::vector<c10::IValue>> example_of(const c10::FunctionSchema& schema);

}  // namespace pareto::fuzz
