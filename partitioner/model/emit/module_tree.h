// A flat graph as a module again, with a submodule for each dot of its weights' names. Sees
// LibTorch: for sources of partitioner/model/emit and their tests only.
#pragma once

#include <torch/script.h>

#include "partitioner/model/emit/trained_model.h"
#include "partitioner/model/graph/flat.h"

namespace pareto::model {

/// Returns a module in evaluation mode whose "forward" is the graph. Weights that `state` names
/// have its tensors, the others their own. Throws what LibTorch throws.
torch::jit::Module module_of(const Flat& flat, const NamedTensors& state);

}  // namespace pareto::model
