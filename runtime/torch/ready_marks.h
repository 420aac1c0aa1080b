// Finds the places in a graph at which a result is ready before the graph ends. The result can then
// be sent while the rest is computed. It includes LibTorch: include it only in sources of
// runtime.
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
