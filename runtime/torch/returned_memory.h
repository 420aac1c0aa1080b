// What operators return: memory of their own, or what they were given. Sees LibTorch: for sources
// of runtime and tests/fuzz only.
#pragma once

#include <torch/script.h>

namespace pareto::runtime {

/// Returns whether all tensors that operators of that name return have memory of their own. Schemas
/// do not say so: by that of dropout its result is new, and in eval mode it is what was given. So
/// these are few, and tests/fuzz/operators_fuzz.cc holds them against what they do.
bool returns_own_memory(c10::Symbol name);

}  // namespace pareto::runtime
