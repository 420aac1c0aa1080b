// Losses of trainings: built-in ones, and those of TorchScript files. A loss is a model that takes
// another model's outputs and the labels, and returns one number.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::model::zoo {

/// Returns the names of the built-in losses: "cross-entropy" and "mse".
///
/// | name | of outputs | value |
/// |---|---|---|
/// | cross-entropy | N × classes, as logits | mean over the samples |
/// | mse | N × classes | mean square of the distance to 1 at the label and 0 elsewhere |
/// | mse | N, or N × 1 | mean square of the distance to the label |
const std::vector<std::string>& loss_names();

/// Opens a loss for a model's outputs, by its name or the path of a TorchScript file. The file's
/// "forward" takes the outputs in their order, then the labels, an int64 tensor of N. Of a model
/// that runs at one batch only, N is the size in front that is equal to it. Fails: kNotFound (no
/// such name or file), kCorrupt, kInvalidArgument (it does not take the outputs, with LibTorch's
/// reason; it returns no scalar, with what it returns; it has no gradient).
Expected<Model> open_loss(const std::string& name_or_path, const Model& model);

}  // namespace pareto::model::zoo
