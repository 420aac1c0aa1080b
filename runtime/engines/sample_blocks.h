// Operators of a graph that treat each sample of a batch for itself, run for a few samples at a
// time: what they hand each other stays in the cache then. Sees LibTorch: for runtime sources
// only.
//
//   x ─▶ conv ─▶ pool ─▶ linear   becomes   x ─▶ pareto::samples(conv, pool) ─▶ linear
#pragma once

#include <torch/script.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace pareto::runtime {

/// The operators of one part of a graph, and the sizes of block that are the fastest.
///
/// Threads: one at a time. Throws what they throw.
class SampleBlocks final : public torch::CustomClassHolder {
 public:
  /// body: its inputs are tensors and then `extra`, its results are tensors.
  SampleBlocks(const std::shared_ptr<torch::jit::Graph>& body, std::vector<c10::IValue> extra);

  /// Runs the operators on all samples. The first run for a batch tries some sizes of block.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs);
  /// Returns whether one block of all samples is the fastest for this batch, as far as is known.
  bool is_whole(std::int64_t batch) const;

 private:
  std::vector<at::Tensor> run_block(const std::vector<at::Tensor>& inputs, std::int64_t first,
                                    std::int64_t count) const;
  std::vector<at::Tensor> run_by(const std::vector<at::Tensor>& inputs, std::int64_t block) const;
  std::int64_t fastest_block(const std::vector<at::Tensor>& inputs) const;

  const torch::jit::Code code_;
  const std::vector<c10::IValue> extra_;
  std::map<std::pair<std::int64_t, int>, std::int64_t>
      blocks_;  ///< samples at once, by batch and threads
};

/// A graph whose first operators run in blocks.
struct BlockedGraph {
  std::shared_ptr<torch::jit::Graph> graph{};  ///< its last input is the capsule of `blocks`
  c10::intrusive_ptr<SampleBlocks> blocks{};
};

/// Moves the operators of a copy of a graph into blocks, as many as treat samples for themselves if
/// the graph's arguments are pictures. Null where that is none, or hardly any. `extra`: the values
/// of the graph's last inputs.
BlockedGraph block_samples(const std::shared_ptr<torch::jit::Graph>& graph,
                           const std::vector<c10::IValue>& extra);

}  // namespace pareto::runtime
