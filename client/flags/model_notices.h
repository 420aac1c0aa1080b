// Notices about a model that a user should read before trusting its figures and outputs.
#pragma once

#include <string>
#include <vector>

#include "partitioner/model/graph/graph.h"
#include "partitioner/model/graph/input_shape.h"

namespace pareto::client {

/// Returns a sentence for each trait of a model that changes what its outputs mean. The model was
/// saved in training mode, draws random numbers, writes its own buffers, or has a loop that stays
/// whole.
std::vector<std::string> model_notices(const model::Graph& graph);

/// Returns a question to append to the sentence with which a model failed: does it take integers as
/// large as those of the data, or of the range? Empty if integers cannot be the cause.
std::string integers_hint(const std::string& failure, const std::vector<model::InputShape>& shapes);

}  // namespace pareto::client
