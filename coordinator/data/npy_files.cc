#include "coordinator/data/npy_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "coordinator/data/check_input.h"
#include "core/base/counted.h"
#include "core/tensor/npy.h"

namespace pareto::data {
namespace {

namespace fs = std::filesystem;

class NpyFiles final : public DataSet {
 public:
  NpyFiles(std::string title, NpyFile inputs, std::vector<std::int64_t> labels,
           std::int64_t classes)
      : title_(std::move(title)),
        inputs_(std::move(inputs)),
        labels_(std::move(labels)),
        classes_(classes) {}

  std::string title() const override { return title_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(labels_.size()); }
  std::int64_t classes() const override { return classes_; }
  const std::vector<std::string>& class_names() const override { return no_names_; }

  Expected<Sample> sample(std::int64_t index) const override {
    if (index < 0 || index >= size()) {
      return fail(ErrorCode::kInvalidArgument, "{}: no sample {} of {}", title_, index, size());
    }
    PARETO_ASSIGN(Tensor input, inputs_.row(index));
    return Sample{std::move(input), labels_[static_cast<std::size_t>(index)]};
  }

 private:
  const std::string title_;
  const NpyFile inputs_;
  const std::vector<std::int64_t> labels_;
  const std::int64_t classes_;
  const std::vector<std::string> no_names_;
};

Expected<std::vector<std::int64_t>> read_labels(const fs::path& path, std::int64_t classes) {
  PARETO_ASSIGN(const Tensor tensor, read_npy(path));
  if (tensor.dtype() != DType::kInt64 || tensor.shape().size() != 1) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: is {} {}; labels are int64, one dimension: "
                "numpy.save(file, labels.astype('int64').reshape(-1))",
                path.string(), to_string(tensor.dtype()), pareto::to_string(tensor.shape()));
  }
  std::vector<std::int64_t> labels(static_cast<std::size_t>(tensor.shape()[0]));
  if (!labels.empty()) std::memcpy(labels.data(), tensor.bytes().data(), tensor.size_bytes());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && (classes == 0 || labels[i] < classes)) continue;
    return fail(ErrorCode::kInvalidArgument, "{}: label {} is {}, which is outside the classes{}",
                path.string(), i, labels[i],
                classes > 0 ? fmt::format(" 0 to {}", classes - 1) : ": they begin with 0");
  }
  return labels;
}

}  // namespace

Expected<std::unique_ptr<DataSet>> open_npy_files(const std::string& folder,
                                                  const DataSetOptions& options) {
  if (folder.empty()) {
    return fail(ErrorCode::kInvalidArgument, "npy: names no folder, as in npy:DIR");
  }
  const fs::path inputs_path = fs::path(folder) / "inputs.npy";
  PARETO_ASSIGN(NpyFile inputs, NpyFile::open(inputs_path));
  if (inputs.dtype() != DType::kFloat32 || inputs.shape().empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: is {} {}; inputs are float32, the first dimension counts the samples: "
                "numpy.save(file, inputs.astype('float32'))",
                inputs_path.string(), to_string(inputs.dtype()), pareto::to_string(inputs.shape()));
  }
  PARETO_ASSIGN(std::vector<std::int64_t> labels,
                read_labels(fs::path(folder) / "labels.npy", options.classes));
  if (static_cast<std::int64_t>(labels.size()) != inputs.shape()[0] || labels.empty()) {
    return fail(ErrorCode::kInvalidArgument, "{}: inputs.npy has {}, and labels.npy {}", folder,
                counted(inputs.shape()[0], "sample"), counted(labels.size(), "label"));
  }
  PARETO_TRY(with_context(check_input({inputs.shape().begin() + 1, inputs.shape().end()}, options,
                                      "save them in that shape, or open the model with another "
                                      "(--input-shape)"),
                          "{}", inputs_path.string()));
  const std::int64_t classes =
      options.classes > 0 ? options.classes : *std::ranges::max_element(labels) + 1;
  return std::make_unique<NpyFiles>("npy:" + folder, std::move(inputs), std::move(labels), classes);
}

}  // namespace pareto::data
