// Operators that write their result into a tensor that they are given. Sees LibTorch: for sources
// of runtime only.
#pragma once

#include <torch/script.h>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks that no function of the module's archive has such an operator ("out=" in Python). It
/// gives that tensor as much memory as it takes, while other runs may use what it had, and kernels
/// check such tensors less. Fails: kPermission.
Expected<> check_given_results(const torch::jit::Module& module);

}  // namespace pareto::runtime
