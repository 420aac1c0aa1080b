// What each operator of a shard costs, and each segment of it: operators run one by one in the
// plain engine. Sees LibTorch: for core/runtime sources only.
#pragma once

#include <torch/script.h>

#include <vector>

#include "core/runtime/shard_runner.h"

namespace pareto::runtime {

/// Profiles every operator of "run" (constants and weights are none), each interpreted as a graph
/// of its own, `repeats` times over the whole. `cuts`: as ShardRunner::profile, and checked. May
/// throw c10::Error.
ShardProfile profile_segments(const torch::jit::Module& module, const plan::Shard& shard,
                              const std::vector<c10::IValue>& inputs, int repeats,
                              const std::vector<std::int64_t>& cuts);

}  // namespace pareto::runtime
