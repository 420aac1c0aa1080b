// Where in a graph a result is ready before the graph has ended, so that it can be on its way while
// the rest is computed. Sees LibTorch: for core/runtime sources only.
#pragma once

#include <torch/script.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace pareto::runtime {

/// The marks of one graph call. Threads: the one that runs the graph.
class ReadyMarks final : public torch::CustomClassHolder {
 public:
  /// (index of the result, its value as the graph made it). Empty: nobody asks.
  std::function<void(std::size_t, const c10::IValue&)> ready;
};

/// Puts a mark behind the operator that makes a tensor of the graph's result tuple, where operators
/// follow it and none of them writes to it. The graph's last input becomes the capsule of a
/// ReadyMarks, also where nothing was marked.
void insert_ready_marks(const std::shared_ptr<torch::jit::Graph>& graph);

}  // namespace pareto::runtime
