#include "tests/bench/exported_model.h"

#include <fmt/format.h>

#include <chrono>

#include "tests/support/process.h"

namespace pareto::bench {

Expected<ExportedModel> exported_model(const std::string& model) {
  constexpr std::chrono::minutes kExportPatience{10};
  const std::filesystem::path folder = PARETO_PEER_MODELS;
  const std::filesystem::path script = PARETO_PEER_SCRIPTS "/export_model.py";
  ExportedModel files{folder / (model + ".pt"), folder / (model + ".onnx")};
  std::error_code error;
  const auto made = std::filesystem::last_write_time(files.onnx, error);
  if (!error && made >= std::filesystem::last_write_time(script, error)) return files;
  fmt::print(stderr, "exporting {} to ONNX, once\n", model);
  std::filesystem::create_directories(folder, error);
  const auto done = test::run({"/usr/bin/python3", script, model, folder}, {"OMP_NUM_THREADS=1"},
                              kExportPatience);
  if (done.exit_code != 0) {
    return fail(ErrorCode::kUnavailable, "exporting {} with python3-torchvision: {}", model,
                done.errors);
  }
  return files;
}

}  // namespace pareto::bench
