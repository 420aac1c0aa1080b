#include "partitioner/model/zoo/losses.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/script.h>

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "partitioner/model/graph/example_runs.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/readers/model_reader.h"
#include "partitioner/model/readers/torchscript_reader.h"
#include "partitioner/model/zoo/model_builder.h"
#include "runtime/torch/compat.h"

namespace pareto::model::zoo {
namespace {

constexpr const char* kCrossEntropyLoss = "cross-entropy";
constexpr const char* kMeanSquareLoss = "mse";

constexpr const char* kCrossEntropyCode = R"(
def forward(self, outputs, labels):
    return torch.nll_loss(torch.log_softmax(outputs, 1), labels)
)";
constexpr const char* kClassesCode = R"(
def forward(self, outputs, labels):
    wanted = torch.zeros_like(outputs).scatter(1, labels.unsqueeze(1), 1.0)
    return torch.mse_loss(outputs, wanted)
)";
constexpr const char* kNumbersCode = R"(
def forward(self, outputs, labels):
    return torch.mse_loss(outputs, labels.to(outputs.dtype).reshape(outputs.shape))
)";

/// Returns the batch that all sizes were seen at, of a model that runs at no other.
std::optional<std::int64_t> constant_batch(const Model& model) {
  return has_batch(model.inputs()) ? model.only_batch() : std::nullopt;
}

/// Returns the shape of an output as that of the loss's input. `only`: see constant_batch(); then
/// it is the size in front that is the batch.
Expected<InputShape> input_of(const TensorSpec& tensor, std::optional<std::int64_t> only) {
  InputShape input{.per_sample = {}, .dtype = tensor.dtype, .batch_at = std::nullopt};
  for (std::size_t i = 0; i < tensor.dims.size(); ++i) {
    const SymbolicDim& dim = tensor.dims[i];
    if (only && i == 0 && dim == SymbolicDim{*only, 0}) {
      input.batch_at = i;
    } else if (dim.per_sample == 0) {
      input.per_sample.push_back(dim.constant);
    } else if (dim == SymbolicDim{0, 1} && !input.batch_at) {
      input.batch_at = i;
    } else {
      ValueSpec spec;
      spec.kind = ValueSpec::Kind::kTensor;
      spec.tensor = tensor;
      return fail(ErrorCode::kInvalidArgument,
                  "the model returns {}: a loss needs one dimension that is the batch",
                  spec.describe());
    }
  }
  return input;
}

/// Returns what the loss takes: the model's outputs, and a label a sample.
Expected<std::vector<InputShape>> inputs_of_loss(const Model& model) {
  const auto only = constant_batch(model);
  std::vector<InputShape> inputs;
  for (const std::int64_t output : model.graph().outputs) {
    const ValueSpec& spec = model.graph().values[static_cast<std::size_t>(output)].spec;
    if (spec.kind != ValueSpec::Kind::kTensor) {
      return fail(ErrorCode::kInvalidArgument, "{} returns {}: only tensors go into a loss",
                  model.name(), spec.describe());
    }
    PARETO_ASSIGN(InputShape input, input_of(spec.tensor, only));
    inputs.push_back(std::move(input));
  }
  inputs.push_back({.per_sample = {}, .dtype = DType::kInt64});
  return inputs;
}

Expected<Flat> scripted_loss(const std::string& name, const char* code) {
  try {
    torch::jit::Module module("__torch__.pareto.Loss");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.define(code);
    PARETO_ASSIGN(Flat flat, flatten_module(std::move(module)));
    flat.model = name;
    return flat;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "{}: {}", name, runtime::first_line(error));
  }
}

Expected<Flat> builtin_loss(const std::string& name, const std::vector<InputShape>& inputs) {
  const InputShape& output = inputs.front();
  const bool is_float = output.dtype == DType::kFloat32 || output.dtype == DType::kFloat64;
  if (inputs.size() != 2 || !is_float || output.batch_at != std::size_t{0}) {
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i + 1 < inputs.size(); ++i) {
      outputs.push_back(input_spec(inputs[i]).describe());
    }
    return fail(ErrorCode::kInvalidArgument,
                "{} takes one tensor of floats with the batch in front, and the model returns {}: "
                "name a TorchScript file that takes them",
                name, join(outputs));
  }
  const Shape& shape = output.per_sample;
  const bool has_classes = shape.size() == 1 && shape.front() > 1;
  if (name == kCrossEntropyLoss && has_classes) return scripted_loss(name, kCrossEntropyCode);
  if (name == kMeanSquareLoss && has_classes) return scripted_loss(name, kClassesCode);
  const bool is_number = shape.empty() || shape == Shape{1};
  if (name == kMeanSquareLoss && is_number) return scripted_loss(name, kNumbersCode);
  return fail(ErrorCode::kInvalidArgument,
              "{} takes outputs of N x classes, and each sample's output is {}: name a TorchScript "
              "file that takes it",
              name, pareto::to_string(shape));
}

Expected<> check_scalar(const Model& loss) {
  const Graph& graph = loss.graph();
  const ValueSpec* spec = graph.outputs.size() == 1
                              ? &graph.values[static_cast<std::size_t>(graph.outputs[0])].spec
                              : nullptr;
  if (spec == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "it returns {} values, and a loss is one number",
                graph.outputs.size());
  }
  const bool is_float =
      spec->kind == ValueSpec::Kind::kTensor &&
      (spec->tensor.dtype == DType::kFloat32 || spec->tensor.dtype == DType::kFloat64);
  const bool is_one = is_float && std::ranges::all_of(spec->tensor.dims, [](SymbolicDim dim) {
                        return dim == SymbolicDim{1, 0};
                      });
  if (is_one) return {};
  return fail(ErrorCode::kInvalidArgument,
              "it returns no scalar but {}: a loss is one number, such as the mean over the batch",
              spec->describe());
}

Expected<Flat> flat_loss(const std::string& name_or_path, const std::vector<InputShape>& inputs) {
  const auto& names = loss_names();
  if (std::ranges::find(names, name_or_path) != names.end()) {
    return builtin_loss(name_or_path, inputs);
  }
  if (is_model_file(name_or_path)) return read_model(name_or_path);
  return fail(ErrorCode::kNotFound,
              "no loss \"{}\"{}; built in are {}; there is no such file either", name_or_path,
              did_you_mean(name_or_path, names), join(names));
}

/// Returns whether the outputs have a gradient of a file's loss. May throw what LibTorch throws.
bool has_gradient(torch::jit::Module& loss, std::vector<c10::IValue> arguments) {
  const c10::AutoGradMode gradients(true);
  std::vector<torch::Tensor> outputs;
  for (c10::IValue& argument : arguments) {
    if (!argument.isTensor() || !argument.toTensor().is_floating_point()) continue;
    outputs.push_back(argument.toTensor().detach().clone().requires_grad_(true));
    argument = outputs.back();
  }
  const torch::Tensor value = loss.forward(std::move(arguments)).toTensor();
  if (outputs.empty() || !value.requires_grad()) return false;
  const auto found = torch::autograd::grad({value}, outputs, {}, /*retain_graph=*/{},
                                           /*create_graph=*/false, /*allow_unused=*/true);
  return std::ranges::any_of(found, [](const torch::Tensor& one) { return one.defined(); });
}

/// Tries a file's loss on examples.
Expected<> check_gradient(const Model& loss) {
  const Flat& flat = loss.flat();
  if (!flat.original) return {};
  try {
    PARETO_ASSIGN(auto arguments,
                  arguments_at(flat, loss.inputs(), loss.only_batch().value_or(2), kExampleSeed));
    arguments.resize(flat.model_inputs);
    torch::jit::Module module = *flat.original;
    if (has_gradient(module, std::move(arguments))) return {};
  } catch (const std::exception&) {
    return {};  // it takes no examples: its first step says what is wrong
  }
  return fail(ErrorCode::kInvalidArgument,
              "its result does not require grad, so that nothing would be learnt: compute it from "
              "the outputs, without detach() and no_grad()");
}

}  // namespace

const std::vector<std::string>& loss_names() {
  static const std::vector<std::string> kNames{kCrossEntropyLoss, kMeanSquareLoss};
  return kNames;
}

Expected<Model> open_loss(const std::string& name_or_path, const Model& model) {
  PARETO_ASSIGN(std::vector<InputShape> inputs, inputs_of_loss(model));
  PARETO_ASSIGN(Flat flat, flat_loss(name_or_path, inputs));
  std::vector<std::int64_t> batches;
  if (const auto only = constant_batch(model)) batches.push_back(*only);
  PARETO_ASSIGN(Model loss,
                with_context(Model::examine(std::move(flat), std::move(inputs), batches),
                             "the loss {}", name_or_path));
  PARETO_TRY(with_context(check_scalar(loss), "the loss {}", name_or_path));
  PARETO_TRY(with_context(check_gradient(loss), "the loss {}", name_or_path));
  return loss;
}

}  // namespace pareto::model::zoo
