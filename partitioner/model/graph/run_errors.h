// What is said of a model that does not run on examples of its inputs. Sees LibTorch.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/input_shape.h"

namespace pareto::model {

/// Returns the name that an input has in the model's code: LibTorch adds ".1" to some.
std::string input_name(const torch::jit::Value* input);
/// Returns the names of all inputs, in their order.
std::vector<std::string> input_names(const Flat& flat);

/// Says what the model was run on, and what may be wrong with it. `names`: those of its inputs.
std::string describe_examples(const std::vector<InputShape>& shapes,
                              const std::vector<std::string>& names, std::int64_t batch);
/// Returns the batch that a model holds as a constant, concluded from an error of LibTorch at
/// another one: "shape '[2, 12]' is invalid for input of size 36". No value means that it does not
/// say.
std::optional<std::int64_t> batch_in_error(const std::string& error, std::int64_t batch);
/// Returns what an error of a run says, and what can be done about it.
std::string why_not_run(const std::exception& error, const std::vector<InputShape>& shapes);

}  // namespace pareto::model
