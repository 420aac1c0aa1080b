// What each operator of a shard costs, run one by one in the plain engine. Sees LibTorch: for core/runtime sources only.
#pragma once

#include <torch/script.h>

#include <vector>

#include "core/runtime/shard_runner.h"

namespace pareto::runtime {

/// Every operator of "run" (constants and weights are none), each interpreted as a graph of its own, `repeats` times over the whole.
/// May throw c10::Error.
std::vector<OperatorTime> profile_operators(const torch::jit::Module& module, const Shard& shard,
                                            const std::vector<c10::IValue>& inputs, int repeats);

}  // namespace pareto::runtime
