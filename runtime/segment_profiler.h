// Times each operator and each segment of a shard. Operators run one by one in the plain engine. It
// includes LibTorch: include it only in sources of runtime.
#pragma once

#include <torch/script.h>

#include <vector>

#include "runtime/shard_runner.h"

namespace pareto::runtime {

/// Profiles every operator of "run" (constants and weights are none), each interpreted as a graph
/// of its own, `repeats` times over the whole. `cuts`: as ShardRunner::profile, and checked. May
/// throw c10::Error.
ShardProfile profile_segments(const torch::jit::Module& module, const plan::Shard& shard,
                              const std::vector<c10::IValue>& inputs, int repeats,
                              const std::vector<std::int64_t>& cuts);

}  // namespace pareto::runtime
