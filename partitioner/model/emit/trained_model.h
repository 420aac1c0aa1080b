// A model with the weights that a training gave it: its state_dict, and one ordinary TorchScript
// file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/plan/training_values.h"
#include "core/tensor/tensor.h"
#include "partitioner/model/graph/model.h"

namespace pareto::model {

/// Tensors by their names in a state_dict.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Returns the whole state_dict of the model with the tensors of `state`; its other tensors stay as
/// they are. Names of an optimiser's state are left out. Of a file all names of its module are
/// there. Each batch norm whose statistics have changed has counted `micro_batches` more batches
/// (num_batches_tracked). Fails: kInvalidArgument (a name that the model does not have, another
/// dtype or shape).
Expected<NamedTensors> trained_state(const Model& model,
                                     const std::vector<plan::StateTensor>& state,
                                     std::int64_t micro_batches);

/// Writes the model with that state_dict as a TorchScript file in evaluation mode, whose modules
/// and parameters have the model's own names. A file's module keeps its code. The file is written
/// whole or not at all. Fails: as write_file_atomically(); kInternal.
Expected<> write_torchscript(const std::filesystem::path& path, const Model& model,
                             const NamedTensors& state);

}  // namespace pareto::model
