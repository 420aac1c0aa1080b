#include <algorithm>

#include "core/base/text.h"
#include "partitioner/graph/flat.h"
#include "partitioner/graph/torchscript_loader.h"
#include "partitioner/models/checkpoint.h"
#include "partitioner/models/model_builder.h"

namespace pareto::partitioner {
namespace {

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".pt") || text.ends_with(".pth");
}

Expected<Model> finish(Flat flat, const ModelOptions& options, std::vector<InputShape> inputs) {
  if (!options.weights.empty()) {
    PARETO_TRY(load_weights(flat, options.weights));
    // A file's module has other weights: what runs whole is the graph with these.
    flat.original.reset();
  }
  return Model::examine(std::move(flat), std::move(inputs));
}

}  // namespace

Expected<Model> open_model(const std::string& name_or_path, const ModelOptions& options) {
  if (is_path(name_or_path)) {
    PARETO_ASSIGN(Flat flat, load_torchscript(name_or_path));
    return finish(std::move(flat), options, options.input.value_or(std::vector<InputShape>{}));
  }
  std::vector<std::string> names;
  for (const auto& builder : builtin_models()) {
    if (builder->name() == name_or_path) {
      PARETO_ASSIGN(Flat flat, builder->build(options));
      return finish(std::move(flat), options,
                    options.input.value_or(std::vector<InputShape>{builder->default_input()}));
    }
    names.emplace_back(builder->name());
  }
  return fail(ErrorCode::kNotFound,
              "no model \"{}\"{}; built in are {}; a file needs a path ending in .pt", name_or_path,
              did_you_mean(name_or_path, names), join(names));
}

}  // namespace pareto::partitioner
