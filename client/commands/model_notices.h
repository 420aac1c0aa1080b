// What a user should know of a model before its figures and outputs are believed.
#pragma once

#include <string>
#include <vector>

#include "partitioner/model/graph/graph.h"

namespace pareto::client {

/// Returns a sentence for each trait of a model that changes what its outputs mean: it was saved in
/// training mode, draws random numbers, writes its own buffers, or has a loop that stays whole.
std::vector<std::string> model_notices(const model::Graph& graph);

}  // namespace pareto::client
