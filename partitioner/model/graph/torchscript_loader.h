// TorchScript file -> Flat.
#pragma once

#include <filesystem>

#include "core/base/error.h"

namespace pareto::model {

struct Flat;

/// Loads a traced or scripted module in eval mode, inlines it with module paths kept, lifts its
/// weights, unrolls and simplifies. Fails: kNotFound, kCorrupt (not a TorchScript archive,
/// truncated, operators this LibTorch lacks), kInvalidArgument.
Expected<Flat> load_torchscript(const std::filesystem::path& path);

}  // namespace pareto::model
