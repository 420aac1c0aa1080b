// Positions where a cut would change what the model computes, because of writes in place. Sees
// LibTorch.
#pragma once

#include <string>
#include <vector>

#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/model/graph/groups.h"

namespace pareto::model {

/// Fills reasons[position] (0 … operators), where still empty, at positions where
/// - two values that cross may share memory which is written later: on the far side each would have
///   bytes of its own;
/// - a list, tuple or dict crosses whose tensors are written later;
/// - a list or dict crosses that has been made and is not filled yet: what it holds there is not
///   what it holds in the end, and sizes and aliases are known of the end alone;
/// - a weight that is written in place is used on both sides; the operator that writes it is marked
///   as one with hidden state.
///
/// For operators in another order than the graph's: fills Operator::after, so that who touches
/// written memory, or has hidden state, keeps its turn, and adds to `ties` the operators between
/// which a cut in any order would do as above.
void find_hazards(const Flat& flat, Graph& graph, std::vector<std::string>& reasons, Ties& ties);

/// Notes which weights the graph writes in place: named as written, or by norms that keep
/// statistics while they train.
void find_written_weights(Flat& flat);

}  // namespace pareto::model
