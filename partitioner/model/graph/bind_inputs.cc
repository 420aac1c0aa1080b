#include <algorithm>
#include <optional>

#include "core/base/counted.h"
#include "partitioner/model/graph/examine.h"
#include "partitioner/model/graph/flatten.h"
#include "partitioner/model/graph/run_errors.h"
#include "runtime/torch/compat.h"

namespace pareto::model {

Expected<> bind_inputs(Flat& flat, const std::vector<InputShape>& shapes) {
  if (shapes.size() > flat.model_inputs) {
    return fail(ErrorCode::kInvalidArgument, "{} input shapes are given, the model has {}",
                shapes.size(), counted(flat.model_inputs, "input"));
  }
  const std::vector<std::string> names = input_names(flat);
  std::vector<std::string> missing;
  bool bound = false;
  try {
    for (std::size_t i = flat.model_inputs; i > shapes.size(); --i) {
      torch::jit::Value* input = flat.graph->inputs()[i - 1];
      std::optional<c10::IValue> standard;
      if (flat.original) {
        const auto schema = flat.original->get_method("forward").function().getSchema();
        standard = runtime::to_std(schema.arguments().at(i).default_value());
      }
      if (!standard) {
        missing.insert(missing.begin(), input_name(input));
        continue;
      }
      const torch::jit::WithInsertPoint start(*flat.graph->nodes().begin());
      input->replaceAllUsesWith(flat.graph->insertConstant(*standard));
      flat.graph->eraseInput(i - 1);
      --flat.model_inputs;
      bound = true;
    }
    const bool has_data =
        std::ranges::any_of(shapes, [](const InputShape& shape) { return shape.data.has_value(); });
    if (!missing.empty() && has_data) {
      return fail(ErrorCode::kInvalidArgument,
                  "it takes {} ({}), and there {} for {} only: name one each, in that order and "
                  "separated by commas (--input)",
                  counted(names.size(), "input"), fmt::join(names, ", "),
                  shapes.size() == 1 ? "is a file" : "are files",
                  fmt::join(names.begin(), names.begin() + std::ssize(shapes), ", "));
    }
    if (!missing.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "a file does not say the shapes of its inputs: no shape for {}; give one for "
                  "each, per sample, as in --input-shape \"3x224x224\" or \"3x224x224;128:int64\"",
                  fmt::join(missing, ", "));
    }
    if (bound) {
      simplify(flat.graph);
      drop_unused_weights(*flat.graph, flat.weights);
    }
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}", runtime::first_line(error));
  }
  for (std::size_t i = 0; i < flat.model_inputs; ++i) {
    const torch::jit::Value* input = flat.graph->inputs()[i];
    if (input->type()->isSubtypeOf(*c10::OptionalType::ofTensor())) continue;
    return fail(ErrorCode::kInvalidArgument,
                "input {} is a {}; only tensors can be given from outside", input_name(input),
                input->type()->repr_str());
  }
  return {};
}

}  // namespace pareto::model
