// Tensors of a file that say they are larger than their memory. Sees LibTorch: for runtime and
// partitioner/model only.
#pragma once

#include <torch/script.h>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks that each tensor of a module read from a file lies within its memory. These are
/// attributes, also in lists and in parts, and constants of the code. LibTorch takes sizes, strides
/// and offsets from the file unchecked. Fails: kCorrupt.
Expected<> check_tensor_bounds(const torch::jit::Module& module);

}  // namespace pareto::runtime
