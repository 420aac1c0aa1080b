// Archive + weights -> a module in eval mode. Sees LibTorch: for core/runtime sources only.
#pragma once

#include <torch/script.h>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "core/runtime/shard_runner.h"

namespace pareto::runtime {

/// Loads the archive and fills its attributes; weights share the source's memory on the CPU and are copied to other devices. Those that
/// the graph writes in place every run copies as it begins, in operators that "prologue" counts.
/// Fails: kCorrupt (no archive of a shard; a weight of another shape), kNotFound. Catches what LibTorch throws.
Expected<torch::jit::Module> load_module(const plan::Shard& shard, const WeightSource& weights,
                                         c10::Device device);

}  // namespace pareto::runtime
