// Positions where a cut would change what the model computes, because of writes in place. Sees LibTorch.
#pragma once

#include <string>
#include <vector>

#include "partitioner/graph/flat.h"
#include "partitioner/graph/graph.h"

namespace pareto::partitioner {

/// Fills reasons[position] (0 … operators), where still empty, at positions where
/// - two values that cross may share memory which is written later: on the far side each would have bytes of its own;
/// - a list, tuple or dict crosses whose tensors are written later;
/// - a weight that is written in place is used on both sides; the operator that writes it is marked as one with hidden state.
void find_hazards(const Flat& flat, Graph& graph, std::vector<std::string>& reasons);

}  // namespace pareto::partitioner
