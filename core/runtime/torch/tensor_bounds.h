// Tensors of a file that say they are larger than their memory. Sees LibTorch: for core/runtime and
// partitioner/model only.
#pragma once

#include <torch/script.h>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks that each tensor of a module that was read from a file lies within its memory:
/// attributes, also those in lists and of parts, and constants of the code. LibTorch takes sizes,
/// strides and offsets from the file as they are. Fails: kCorrupt.
Expected<> check_tensor_bounds(const torch::jit::Module& module);

}  // namespace pareto::runtime
