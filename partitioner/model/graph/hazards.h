// Positions where a cut would change what the model computes, because of writes in place. Sees
// LibTorch.
#pragma once

#include <string>
#include <vector>

#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/model/graph/groups.h"

namespace pareto::model {

/// Fills reasons[position] (0 … operators), if still empty, at positions where one of these holds:
/// - Two values cross that may share memory which is written later. On the far side each would have
///   its own bytes.
/// - A list, tuple or dict crosses whose tensors are written later.
/// - A list or dict crosses that is not filled yet. It holds something else in the end, and sizes
///   and aliases are known only of the end.
/// - A weight that is written in place is used on both sides. The operator that writes it is marked
///   as one with hidden state.
///
/// For operators in another order than the graph's, it fills Operator::after: operators that touch
/// written memory, or have hidden state, keep their turn. It also adds to `ties` the operators that
/// no cut in any order may part, for the reasons above.
void find_hazards(const Flat& flat, Graph& graph, std::vector<std::string>& reasons, Ties& ties);

/// Notes which weights the graph writes in place: named as written, or by norms that keep
/// statistics while they train.
void find_written_weights(Flat& flat);

}  // namespace pareto::model
