// Flat -> Graph: what the flat graph is made of, and what it computes at two batch sizes. Sees
// LibTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/model/graph/model.h"

namespace pareto::model {

struct Examined {
  Graph graph;
  /// Reasons why there is no cut, by position 0 … operators; empty = legal.
  std::vector<std::string> illegal;
  std::optional<std::int64_t> only_batch;  ///< it ran at this batch and at no other
};

/// Inputs of the model that no shape is given for become constants, where the file gives them a
/// default. Fails with kInvalidArgument: too few or too many shapes; inputs that are no tensors.
Expected<> bind_inputs(Flat& flat, const std::vector<InputShape>& shapes);

/// Replaces operators that write to a tensor by operators that return a new one. It does so only if
/// nobody sees the difference, and if a run on noise shows that the new tensor is of the same type.
/// Fails: kInvalidArgument, with LibTorch's reason.
Expected<> remove_writes(Flat& flat, const std::vector<InputShape>& shapes,
                         const std::vector<std::int64_t>& batches);

/// Runs the graph at batches 2 and 3. If it refuses them, it is run at 1 and 2, then at each of
/// `batches` and at the data's, at 1, and at usual export sizes. At one batch alone all shapes are
/// constant. Fails: kInvalidArgument with LibTorch's reason.
Expected<Examined> examine_flat(const Flat& flat, const std::vector<InputShape>& shapes,
                                const std::vector<std::int64_t>& batches);

}  // namespace pareto::model
