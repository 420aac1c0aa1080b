// Makes trainers of shards. It includes LibTorch: include it only in sources of core/runtime.
#pragma once

#include <torch/script.h>

#include <memory>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "core/runtime/shard_runner.h"

namespace pareto::runtime {

/// Loads a shard with parameters of its own, which options.training says how to train. run()
/// evaluates it with the parameters that it has by then.
/// Fails: kCorrupt (archive, weights, a state that does not fit), kNotFound (a tensor),
/// kInvalidArgument (quantised weights), kExhausted.
Expected<std::unique_ptr<ShardRunner>> load_training(const plan::Shard& shard,
                                                     const WeightSource& weights,
                                                     const RunnerOptions& options,
                                                     c10::Device device);

}  // namespace pareto::runtime
