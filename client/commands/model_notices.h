// Notices about a model that a user should read before trusting its figures and outputs.
#pragma once

#include <string>
#include <vector>

#include "partitioner/model/graph/graph.h"
#include "partitioner/model/graph/input_shape.h"

namespace pareto::client {

/// Returns a sentence for each trait of a model that changes what its outputs mean: it was saved in
/// training mode, draws random numbers, writes its own buffers, or has a loop that stays whole.
std::vector<std::string> model_notices(const model::Graph& graph);

/// Returns what to ask of a model that failed with that sentence, to be put behind it: whether it
/// takes integers as large as those of the data or of the range; empty: they cannot be the cause.
std::string integers_hint(const std::string& failure, const std::vector<model::InputShape>& shapes);

}  // namespace pareto::client
