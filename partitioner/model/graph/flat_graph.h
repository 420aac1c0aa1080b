// Reading a flat graph: its operators, their module paths, what they use; and cutting a part out of
// it. Sees LibTorch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/torch/compat.h"
#include "runtime/torch/written_weights.h"

namespace pareto::model {

/// Returns the nodes of the top block that count as operators, in order: all but constants.
std::vector<torch::jit::Node*> operators_of(torch::jit::Graph& graph);

using runtime::for_each_node;

/// Returns the nodes of one kind in a block and in all blocks inside, each before those inside it.
std::vector<torch::jit::Node*> nodes_of_kind(torch::jit::Block* block, c10::Symbol kind);

/// Returns the values from outside that a node reads, those read in its blocks included; without
/// repeats, in order of first use.
std::vector<torch::jit::Value*> outer_inputs(torch::jit::Node* node);

bool is_constant(const torch::jit::Value* value);
/// Returns whether a value is a list or a dict, to which elements may be added.
bool is_container(const torch::jit::Value* value);

/// Returns the node's module path: "features.5.conv.0.0"; "" at the root.
std::string scope_path(torch::jit::Node* node);
/// Gives a node, and all inside its blocks, a module path.
void set_scope_path(torch::jit::Node* node, const std::string& path);

/// A part of a graph under construction: values of the old graph by their stand-ins in the new one.
///
/// Threads: one owner; the old graph must not change meanwhile.
class GraphCut {
 public:
  GraphCut();
  /// Adds a new input in place of an old value, with its type and name.
  torch::jit::Value* add_input(torch::jit::Value* old);
  /// Puts any value of the new graph in place of an old one.
  void stand_in(torch::jit::Value* old, torch::jit::Value* fresh);
  /// Copies a node with its blocks; constants it reads are copied along. Throws c10::Error where it
  /// reads a value that has neither been added nor copied.
  void add_node(torch::jit::Node* node);
  /// Returns what stands for an old value; constants are copied. Throws as add_node does.
  torch::jit::Value* get(torch::jit::Value* old);
  const std::shared_ptr<torch::jit::Graph>& graph() const { return graph_; }

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  std::unordered_map<const torch::jit::Value*, torch::jit::Value*> fresh_;
};

}  // namespace pareto::model
