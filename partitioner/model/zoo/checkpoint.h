// Weights from files: torchvision checkpoints (.pth, zip and legacy form) read by an own reader
// that executes nothing, and TorchScript files (.pt).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::model {
struct Flat;
}  // namespace pareto::model

namespace pareto::model::zoo {

/// Reads the entries of a state_dict, in file order. The pickle inside is foreign data. Only listed
/// opcodes and the few globals of a state_dict are allowed, and every size is checked against the
/// file. Fails: kNotFound, kCorrupt.
Expected<std::vector<std::pair<std::string, Tensor>>> read_checkpoint(
    const std::filesystem::path& path);

/// Writes a state_dict as torch.save does, in zip form: torch.load reads it, and read_checkpoint()
/// too. The file is written whole or not at all. Fails: as write_file_atomically();
/// kInvalidArgument (a dtype that PyTorch has no storage of).
Expected<> write_checkpoint(const std::filesystem::path& path,
                            const std::vector<std::pair<std::string, Tensor>>& entries);

/// Puts a checkpoint's tensors into a model's weights by name. Fails: kInvalidArgument naming the
/// missing or misshapen parameter (`num_batches_tracked` and, where the model has no such part,
/// auxiliary heads may be absent or left over).
Expected<> load_weights(Flat& flat, const std::filesystem::path& path);

}  // namespace pareto::model::zoo
