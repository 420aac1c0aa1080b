// Flat -> Graph: what the flat graph is made of, and what it computes at two batch sizes. Sees LibTorch.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/graph/flat.h"
#include "partitioner/graph/graph.h"
#include "partitioner/graph/model.h"

namespace pareto::partitioner {

struct Examined {
  Graph graph;
  std::vector<std::string> illegal;  ///< by position 0 … operators: why no cut; empty = legal
};

/// Inputs of the model that no shape is given for become constants, where the file gives them a default. Fails with
/// kInvalidArgument: too few or too many shapes; inputs that are no tensors.
Expected<> bind_inputs(Flat& flat, const std::vector<InputShape>& shapes);

/// Puts operators that return a new tensor in place of those that write to one, where nobody sees the difference and a run on noise shows
/// that the new one is of the same type. Fails: kInvalidArgument with LibTorch's reason.
Expected<> remove_writes(Flat& flat, const std::vector<InputShape>& shapes);

/// The spec of a model input.
ValueSpec input_spec(const InputShape& shape);

/// Runs the graph at batches 2 and 3, or, where it refuses them, 1 and 2, or 1 alone (shapes are then constant). Fails:
/// kInvalidArgument with LibTorch's reason.
Expected<Examined> examine_flat(const Flat& flat, const std::vector<InputShape>& shapes);

}  // namespace pareto::partitioner
