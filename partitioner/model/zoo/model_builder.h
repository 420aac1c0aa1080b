// Built-in architectures. A plug: one file that implements ModelBuilder, one line in
// builtin_models.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::model::zoo {

struct ModelOptions {
  std::optional<std::int64_t> num_classes;       ///< none = the builder's own
  std::optional<std::vector<InputShape>> input;  ///< per sample; none = the builder's own
  std::string
      weights;  ///< FILE.pth (a torchvision checkpoint) or FILE.pt; empty = seeded initialisation
  std::uint64_t seed = 0;
  /// Batches that it will be run at, as Model::examine() takes them.
  std::vector<std::int64_t> batches;
};

/// One built-in architecture.
///
/// Threads: any; builders have no state.
class ModelBuilder {
 public:
  virtual ~ModelBuilder() = default;
  virtual std::string_view name() const = 0;       ///< "mobilenetv2"
  virtual std::string_view reference() const = 0;  ///< the paper: authors, title, year
  virtual InputShape default_input() const = 0;    ///< 3x224x224
  virtual std::int64_t default_classes() const = 0;
  /// Builds the architecture in eval mode with seeded weights. Names, shapes and order of the
  /// weights are torchvision's, or those of ultralytics if torchvision lacks the model. Fails:
  /// kInvalidArgument (pictures or a number of classes that it cannot take).
  virtual Expected<Flat> build(const ModelOptions& options) const = 0;
};

std::vector<std::unique_ptr<ModelBuilder>> builtin_models();

/// Returns the number of classes of a built-in model that nobody asked for another one of; of any
/// other name that of ImageNet, 1000.
std::int64_t default_classes(std::string_view name);

/// Returns whether the text is the path of a model's file, and not a built-in name. It is one if it
/// has a '/' or an extension of such files, or if there is such a file.
bool is_model_file(const std::string& name_or_path);

/// Opens a built-in name or the path of a model's file, ready to be cut. Fails: kNotFound (with the
/// nearest names), and whatever read_model(), load_weights() and Model::examine() return.
Expected<Model> open_model(const std::string& name_or_path, const ModelOptions& options);

}  // namespace pareto::model::zoo
