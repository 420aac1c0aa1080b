// Files that are no TorchScript, which people give nevertheless. No LibTorch.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace pareto::model {

/// Returns the kind of that file, and how to make a TorchScript file of it. No value means that it
/// is a zip archive, which may be one. Looks at the file's beginning, its end and its name.
std::optional<std::string> remedy_for_other_file(const std::filesystem::path& path);

}  // namespace pareto::model
