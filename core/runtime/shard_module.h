// Loads a shard's archive and weights as a module in eval mode. It includes LibTorch: include it
// only in sources of core/runtime.
#pragma once

#include <torch/script.h>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "core/runtime/shard_runner.h"

namespace pareto::runtime {

/// Loads the archive and fills in its weights. On the CPU, weights share the memory of their
/// source; other devices get copies. Each run begins by copying the weights that the graph writes
/// in place; "prologue" counts these operators. Catches what LibTorch throws.
/// Fails: kCorrupt (not a shard's archive; a weight of another shape), kNotFound (a weight).
Expected<torch::jit::Module> load_module(const plan::Shard& shard, const WeightSource& weights,
                                         c10::Device device);

}  // namespace pareto::runtime
