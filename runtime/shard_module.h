// Loads a shard's archive and weights as a module in eval mode. It includes LibTorch: include it
// only in sources of runtime and partitioner/model/emit.
#pragma once

#include <torch/script.h>

#include <vector>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "runtime/shard_runner.h"

namespace pareto::runtime {

/// Returns the nodes of a shard's graph (the module's "run", or a copy of it) that are operators of
/// the model, in its order. What lays out the values that come in and go out is none of them.
std::vector<torch::jit::Node*> operator_nodes(const torch::jit::Module& module,
                                              torch::jit::Graph& graph, const plan::Shard& shard);

/// The ways to keep weights that a graph writes in place.
enum class WrittenWeights {
  kCopied,   ///< each run begins with copies of them; "prologue" counts these operators
  kWritten,  ///< they change: the caller gives the module weights of its own
};

/// Loads the archive and fills in its weights. On the CPU, weights share the memory of their
/// source; other devices get copies. So does an archive that may write to them in a way that copies
/// of each run do not prevent: other shards have the same weights.
/// Operators have their module path as scope, which engines hand on. Catches what LibTorch throws.
/// Fails: kCorrupt (not a shard's archive; a weight of another shape), kNotFound (a weight).
Expected<torch::jit::Module> load_module(const plan::Shard& shard, const WeightSource& weights,
                                         c10::Device device, WrittenWeights written);

/// Returns a weight's bytes as a tensor of its dtype and shape. Fails: kCorrupt (another number of
/// bytes), and as the source does.
Expected<Tensor> fetch_weight(const plan::WeightRef& weight, const WeightSource& weights);

}  // namespace pareto::runtime
