// TorchScript archives: modules that Python traced or scripted. Sees LibTorch.
#pragma once

#include <torch/script.h>

#include <filesystem>

#include "core/base/error.h"
#include "partitioner/model/readers/model_reader.h"

namespace pareto::model {

/// Returns the reader, which lives as long as the process. It takes the module in eval mode and
/// inlines it with module paths kept. It lifts the weights, unrolls loops and simplifies.
const ModelReader* torchscript_reader();

/// Loads the module of an archive in eval mode, on the CPU, after checks that LibTorch does not
/// make. Fails: kCorrupt (damaged, or operators that this LibTorch lacks).
Expected<torch::jit::Module> load_torchscript(const std::filesystem::path& path);

/// Returns the flat form of a module's "forward". It inlines the module with paths kept, lifts the
/// weights, unrolls loops and simplifies. Fails: kInvalidArgument, kCorrupt.
Expected<Flat> flatten_module(torch::jit::Module module);

}  // namespace pareto::model
