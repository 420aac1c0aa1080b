// Runs a flat graph operator by operator, so that what each produced can be looked at. Sees
// LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/torch/compat.h"

namespace pareto::model {

/// A graph that is run operator by operator, with an observer.
///
/// Threads: one owner. Every call may throw what LibTorch throws.
class GraphRunner {
 public:
  /// One operator has run, at the top or inside a block; `position` is that of the top one.
  using Observer = std::function<void(std::size_t position, torch::jit::Node* node,
                                      std::span<const c10::IValue> inputs,
                                      std::span<const c10::IValue> outputs)>;

  explicit GraphRunner(std::shared_ptr<torch::jit::Graph> graph);
  /// Lets layers return zeros without computing from now on, if `skips`. Only shapes are then of
  /// use, and only of a graph that ignores_numbers() (unread_layers.h).
  void skip_layers(bool skips) { skips_layers_ = skips; }
  ~GraphRunner();
  GraphRunner(const GraphRunner&) = delete;
  GraphRunner& operator=(const GraphRunner&) = delete;

  /// Runs the graph on `inputs`, one for each graph input, and returns its outputs. Values are
  /// dropped after their last use.
  std::vector<c10::IValue> run(std::vector<c10::IValue> inputs, const Observer& observer);

 private:
  struct Step;
  void run_node(torch::jit::Node* node);
  void run_block(torch::jit::Block* block);
  void run_loop(torch::jit::Node* node);
  std::vector<c10::IValue> run_step(torch::jit::Node* node, const std::vector<c10::IValue>& inputs);
  const c10::IValue& get(torch::jit::Value* value);

  std::shared_ptr<torch::jit::Graph> graph_;
  std::vector<torch::jit::Node*> operators_;
  std::vector<std::vector<torch::jit::Value*>> dead_after_;  // by operator
  std::unordered_map<const torch::jit::Value*, c10::IValue> values_;
  std::unordered_map<const torch::jit::Value*, c10::IValue> constants_;
  std::unordered_map<const torch::jit::Node*, std::unique_ptr<Step>> steps_;
  const Observer* observer_ = nullptr;
  std::size_t position_ = 0;
  bool skips_layers_ = false;
};

}  // namespace pareto::model
