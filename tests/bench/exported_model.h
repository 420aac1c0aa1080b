// Models of torchvision, exported to files.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/error.h"

namespace pareto::bench {

/// A model's two files, which hold the same weights.
struct ExportedModel {
  std::filesystem::path torchscript;
  std::filesystem::path onnx;
};

/// Returns the model's files. They are made first if they are not there, or older than the script
/// that makes them. Fails: kUnavailable (python3-torchvision).
Expected<ExportedModel> exported_model(const std::string& model);

}  // namespace pareto::bench
