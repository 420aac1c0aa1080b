// An engine's graph as operators that can be compiled and run apart. Sees LibTorch: for
// runtime sources only.
#pragma once

#include <torch/script.h>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/engines/engine.h"
#include "runtime/schedules/weighted_graph.h"

namespace pareto::runtime {

/// Some operators as a graph of their own, and the numbers of the values it takes and makes.
struct CutGraph {
  std::shared_ptr<torch::jit::Graph> graph;
  std::vector<std::size_t> inputs;   ///< numbers of its inputs, in order
  std::vector<std::size_t> outputs;  ///< numbers of its outputs, in order
};

/// The operators of an engine's graph, in its order. Constants are none. Lists and tuples that
/// nobody writes to are none either: those who read them put them together.
///
/// Values have numbers: first the graph's inputs (the module's object, arguments, extra values),
/// then what operators make.
///
/// Threads: one at a time. Throws c10::Error.
class OperatorGraph {
 public:
  explicit OperatorGraph(std::shared_ptr<torch::jit::Graph> graph);

  std::size_t size() const { return operators_.size(); }
  std::size_t values() const { return values_.size(); }
  /// Returns the number of the first value that an operator makes: those before come from outside.
  std::size_t first_made() const { return graph_->inputs().size(); }

  /// Returns the operators with a cost of 1 each. An operator also waits for those whose tensors it
  /// writes to, and those that read or write what it writes; random ones keep their order.
  const schedules::WeightedGraph& weighted() const { return weighted_; }
  /// Returns the operator that makes a value; of a value that is made.
  std::size_t maker(std::size_t value) const { return makers_[value - first_made()]; }
  /// Returns the values that an operator makes.
  const std::vector<std::size_t>& made_by(std::size_t number) const { return made_[number]; }

  /// Returns operators as a graph that makes `outputs`.
  CutGraph cut(const std::vector<std::size_t>& operators,
               const std::vector<std::size_t>& outputs) const;
  /// Returns what puts the graph's result together.
  CutGraph cut_result() const;

 private:
  class Copy;

  std::shared_ptr<torch::jit::Graph> graph_;
  std::vector<torch::jit::Node*> operators_;
  std::vector<torch::jit::Value*> values_;
  std::unordered_map<const torch::jit::Value*, std::size_t> numbers_;
  std::vector<std::size_t> makers_;
  std::vector<std::vector<std::size_t>> made_;
  schedules::WeightedGraph weighted_;
};

}  // namespace pareto::runtime
