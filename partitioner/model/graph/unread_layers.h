// Layers that need not compute while only shapes are looked at: most of the time of a run. Sees
// LibTorch.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "partitioner/model/graph/input_shape.h"
#include "runtime/torch/compat.h"

namespace pareto::model {

/// Returns whether neither the shapes in a graph nor what it refuses can follow from what floating
/// numbers are. It has no branches and loops, nothing reads numbers off the data, which are the
/// first `data_inputs` of its inputs, and no size follows from them. Weights are no data.
bool ignores_numbers(torch::jit::Graph& graph, std::size_t data_inputs);
/// Returns whether layers may be skipped on examples of those inputs: the graph ignores numbers,
/// and no input holds integers, which devices would see examples of.
bool may_skip_layers(torch::jit::Graph& graph, const std::vector<InputShape>& shapes);

/// Returns zeros in the shape, type and layout of what a layer returns, which is a convolution,
/// linear layer, matrix product, softmax or layer norm. No value: the layer is another one, or is
/// given something that is not common, and has to compute. May throw what LibTorch throws.
std::optional<at::Tensor> zeros_of_layer(const torch::jit::Node* node,
                                         std::span<const c10::IValue> inputs);

}  // namespace pareto::model
