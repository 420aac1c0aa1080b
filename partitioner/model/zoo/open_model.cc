#include <algorithm>
#include <filesystem>

#include "core/base/text.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/readers/model_reader.h"
#include "partitioner/model/zoo/checkpoint.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::model::zoo {
namespace {

bool is_builtin(const std::string& name) {
  return std::ranges::any_of(builtin_models(),
                             [&](const auto& builder) { return builder->name() == name; });
}

Expected<Model> finish(Flat flat, const ModelOptions& options, std::vector<InputShape> inputs) {
  if (!options.weights.empty()) {
    PARETO_TRY(load_weights(flat, options.weights));
    // A file's module has other weights: what runs whole is the graph with these.
    flat.original.reset();
  }
  return Model::examine(std::move(flat), std::move(inputs), options.batches);
}

}  // namespace

std::int64_t default_classes(std::string_view name) {
  for (const auto& builder : builtin_models()) {
    if (builder->name() == name) return builder->default_classes();
  }
  return 1000;
}

bool is_model_file(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || has_model_extension(name_or_path)) return true;
  std::error_code absent;
  return std::filesystem::is_regular_file(name_or_path, absent) && !is_builtin(name_or_path);
}

Expected<Model> open_model(const std::string& name_or_path, const ModelOptions& options) {
  if (is_model_file(name_or_path)) {
    PARETO_ASSIGN(Flat flat, read_model(name_or_path));
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
              "no model \"{}\"{}; built in are {}; there is no such file either", name_or_path,
              did_you_mean(name_or_path, names), join(names));
}

}  // namespace pareto::model::zoo
