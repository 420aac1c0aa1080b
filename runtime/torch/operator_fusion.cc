#include "runtime/torch/operator_fusion.h"

#include <torch/csrc/jit/passes/tensorexpr_fuser.h>

namespace pareto::runtime {

void keep_operators_apart() { torch::jit::setTensorExprFuserEnabled(false); }

}  // namespace pareto::runtime
