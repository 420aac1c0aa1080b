// Finds tensors that a graph writes in place although they are not its own. It includes LibTorch:
// include it only in sources of runtime and partitioner/model/graph.
#pragma once

#include <torch/script.h>

#include <functional>
#include <vector>

#include "runtime/torch/compat.h"

namespace pareto::runtime {

/// Returns whether a value is a tensor by its type.
bool is_tensor(const torch::jit::Value* value);

/// Visits the nodes of a block and of all blocks inside, each before those inside it.
void for_each_node(torch::jit::Block* block, const std::function<void(torch::jit::Node*)>& visit);

/// Returns the values that a node writes to as its schema says.
std::vector<const torch::jit::Value*> marked_writes(const torch::jit::Node* node);

/// Returns the values that a node may write to although its schema does not say so: running mean
/// and variance of norms that train.
std::vector<const torch::jit::Value*> unmarked_writes(const torch::jit::Node* node);

/// Returns whether an operator of the block, or of a block inside, is known to write to something.
bool writes_anything(torch::jit::Block* block);

/// Returns whether the module's tensors may be written although copy_written_weights() was applied
/// to "run". It copies what "run" itself reads and writes plainly: not what one function hands to
/// another, nor what comes out of a container.
bool writes_own_weights(const torch::jit::Module& module);

/// Lets a graph go on with a clone of a tensor, and returns the clone. AliasDb assumes that any two
/// tensors from outside may be one, so it would find every write dangerous.
torch::jit::Value* cloned(torch::jit::Value* tensor);

/// Returns the tensors from outside (inputs, and attributes that it reads) that a graph writes in
/// place. They are named as written, or are the statistics of norms that train.
std::vector<torch::jit::Value*> written_tensors(torch::jit::Graph& graph);

/// Lets every run of a graph whose first input is its module's object write to copies of the
/// object's tensors, made as the run begins. Returns how many operators do that, in front of all
/// others.
std::size_t copy_written_weights(torch::jit::Graph& graph);

/// Returns the constants of a graph that are tensors or hold some.
std::vector<torch::jit::Value*> tensor_constants(torch::jit::Graph& graph);

/// Lets every run of a graph write to copies of its constants that are tensors. Returns how many
/// operators do that, in front of all others.
std::size_t copy_written_constants(torch::jit::Graph& graph);

}  // namespace pareto::runtime
