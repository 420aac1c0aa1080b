// Models of torchvision, traced to TorchScript files.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/error.h"

namespace pareto::bench {

/// Traces the model of that name in torchvision to a file in the folder, and returns its path.
/// Fails: kUnavailable (python3-torchvision).
Expected<std::filesystem::path> traced_file(const std::string& model,
                                            const std::filesystem::path& folder);

}  // namespace pareto::bench
