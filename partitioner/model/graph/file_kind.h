// Files that are no TorchScript, which people give nevertheless. No LibTorch.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace pareto::model {

/// Returns what kind of file that is and how to make a TorchScript file of it; no value if it is a
/// zip archive that may be one. Looks at its beginning, its end and its name.
std::optional<std::string> remedy_for_other_file(const std::filesystem::path& path);

}  // namespace pareto::model
