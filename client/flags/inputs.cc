#include "client/flags/inputs.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "client/command.h"
#include "coordinator/load/micro_batch.h"
#include "core/base/counted.h"
#include "core/tensor/npy.h"

namespace pareto::client {
namespace {

using model::InputShape;
using model::Model;

Expected<std::vector<Tensor>> read_files(const std::vector<std::string>& files) {
  std::vector<Tensor> tensors;
  for (const std::string& file : files) {
    PARETO_ASSIGN(Tensor tensor, read_npy(file));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// Returns the batch of the first tensor whose input has one; 1 if none has.
std::int64_t batch_of(const Model& model, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto at = model.inputs()[i].batch_at;
    if (at && *at < tensors[i].shape().size()) return tensors[i].shape()[*at];
  }
  return 1;
}

/// Returns whether an input takes a tensor of that shape, which may be of another size than the
/// model was opened with if sizes vary.
bool is_shape_taken(const InputShape& input, const TensorSpec& spec, const Tensor& tensor,
                    std::int64_t batch) {
  if (input.sizes.empty() || !model::fits(input, tensor))
    return tensor.shape() == spec.shape(batch);
  return !input.batch_at || tensor.shape()[*input.batch_at] == spec.shape(batch)[*input.batch_at];
}

bool is_batch_in_front(const TensorSpec& spec) {
  for (std::size_t i = 0; i < spec.dims.size(); ++i) {
    const SymbolicDim& dim = spec.dims[i];
    if (dim.per_sample != 0 && !(i == 0 && dim == SymbolicDim{0, 1})) return false;
  }
  return true;
}

/// Refuses to cut a batch that the model does not compute sample by sample, as a product of all
/// samples with each other or a branch on the batch's size.
Expected<> compare_cut(const Model& model, const plan::Plan& plan, const std::string& asked) {
  // More than rounding, which depends on the batch.
  constexpr double kMostError = 1e-3;
  constexpr std::uint64_t kSeed = 1;
  PARETO_ASSIGN(std::vector<Value> inputs, model.example_inputs(plan.batch, kSeed));
  PARETO_ASSIGN(std::vector<Value> whole, model.run_whole(inputs));
  const auto sizes = load::micro_batch_sizes(plan);
  PARETO_ASSIGN(const auto parts, load::split_batch(Tuple{std::move(inputs)}, sizes));
  std::vector<Value> results;
  for (const Value& part : parts) {
    PARETO_ASSIGN(auto outputs,
                  with_context(model.run_whole(part.get_if<Tuple>()->items), "{}", asked));
    results.emplace_back(Tuple{std::move(outputs)});
  }
  PARETO_ASSIGN(const Value joined, with_context(load::join_batch(results, sizes), "{}", asked));
  const double error = relative_error(Tuple{std::move(whole)}, joined);
  if (error <= kMostError) return {};
  return fail(ErrorCode::kInvalidArgument,
              "{}: {} does not compute each sample by itself: a batch of {} in parts of {} gives "
              "other outputs, off by {:.2g} of the largest; leave the batch whole",
              asked, model.name(), plan.batch, plan.message_batch(), error);
}

}  // namespace

Expected<std::vector<InputShape>> read_model_inputs(const std::string& shape,
                                                    const std::vector<std::string>& files) {
  std::vector<InputShape> shapes;
  if (!shape.empty()) {
    PARETO_ASSIGN(shapes, with_context(model::parse_input_shapes(shape), "--input-shape"));
  }
  if (files.empty()) return shapes;
  PARETO_ASSIGN(std::vector<Tensor> tensors, with_context(read_files(files), "--input"));
  return with_context(model::with_data(std::move(shapes), std::move(tensors), files), "--input");
}

Expected<ModelInputs> read_request(const Model& model, const std::vector<std::string>& files) {
  const auto& arguments = model.graph().inputs;
  PARETO_ASSIGN(std::vector<Tensor> tensors, read_files(files));
  if (tensors.size() != arguments.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} takes {}, not {}", model.name(),
                counted(arguments.size(), "input"), tensors.size());
  }
  ModelInputs inputs;
  inputs.batch = batch_of(model, tensors);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const model::GraphValue& value = model.graph().values[static_cast<std::size_t>(arguments[i])];
    const ValueSpec& spec = value.spec;
    Tensor& tensor = tensors[i];
    if (inputs.batch < 1 || spec.kind != ValueSpec::Kind::kTensor ||
        tensor.dtype() != spec.tensor.dtype ||
        !is_shape_taken(model.inputs()[i], spec.tensor, tensor, inputs.batch)) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: {} {} does not fit input {} of {}: {} (--input-shape)", files[i],
                  to_string(tensor.dtype()), to_string(tensor.shape()), i, model.name(),
                  model::describe(model.graph(), value));
    }
    inputs.values.emplace_back(std::move(tensor));
  }
  return inputs;
}

std::optional<std::int64_t> own_batch(const Model& model) {
  return model.only_batch() ? model.only_batch() : model::batch_of_data(model.inputs());
}

Expected<std::vector<std::int64_t>> batches_for(Context& context, const Model& model,
                                                const std::vector<std::int64_t>& named,
                                                const std::vector<std::int64_t>& usual) {
  if (named.empty()) {
    const auto own = own_batch(model);
    return own ? std::vector{*own} : usual;
  }
  const auto present = model::batch_of_data(model.inputs());
  for (const std::int64_t batch : named) {
    if (model.only_batch() && batch != *model.only_batch()) {
      return fail(ErrorCode::kInvalidArgument, "--batch {}: {} runs at batch {} only", batch,
                  model.name(), *model.only_batch());
    }
    if (!present || batch == *present) continue;
    context.err << (batch < *present
                        ? fmt::format("batch {}: the first of the {} samples of --input\n", batch,
                                      *present)
                    : *present == 1
                        ? fmt::format("batch {}: the sample of --input is repeated\n", batch)
                        : fmt::format("batch {}: the {} samples of --input are repeated\n", batch,
                                      *present))
                << std::flush;
  }
  return named;
}

Expected<> check_cut(const Model& model, const plan::Plan& plan) {
  if (!plan.is_cut()) return {};
  const std::string asked = plan.micro_batch > 0
                                ? fmt::format("--micro-batch {}", plan.micro_batch)
                                : fmt::format("--schedule {}", plan::kOverlapSchedule);
  if (const auto only = model.only_batch(); only && plan.message_batch() != *only) {
    return fail(ErrorCode::kInvalidArgument, "{}: {} runs at batch {} only", asked, model.name(),
                *only);
  }
  const model::Graph& graph = model.graph();
  const auto check = [&](const std::vector<std::int64_t>& values, const char* what) -> Expected<> {
    for (const std::int64_t value : values) {
      const ValueSpec& spec = graph.values[static_cast<std::size_t>(value)].spec;
      if (std::ranges::all_of(tensors_of(spec), is_batch_in_front)) continue;
      return fail(ErrorCode::kInvalidArgument,
                  "{}: the {} {} of {} does not carry the batch in its first dimension, so that a "
                  "batch cannot be cut",
                  asked, what, spec.describe(), model.name());
    }
    return {};
  };
  PARETO_TRY(check(graph.inputs, "input"));
  PARETO_TRY(check(graph.outputs, "output"));
  return compare_cut(model, plan, asked);
}

std::string only_batch_notice(const Model& model) {
  const auto only = model.only_batch();
  if (!only || !model::has_batch(model.inputs())) return {};
  std::string text = fmt::format("{} runs at batch {} only", model.name(), *only);
  if (*only == 1 && !model::batch_of_data(model.inputs())) {
    text += " of those tried; if it was exported at another one, name that: --batch";
  }
  return text;
}

std::string emptied_notice(const Model& model) {
  if (!model::has_made_up_integers(model.inputs())) return {};
  const model::Graph& graph = model.graph();
  const std::int64_t batch = model.only_batch().value_or(1);
  const auto is_empty = [&](const model::GraphValue& value) {
    return std::ranges::any_of(tensors_of(value.spec), [&](const TensorSpec& tensor) {
      return std::ranges::any_of(tensor.dims,
                                 [&](const SymbolicDim& dim) { return dim.at(batch) == 0; });
    });
  };
  // A result says most.
  auto found = std::ranges::find_if(
      graph.values, [&](const auto& value) { return value.is_output && is_empty(value); });
  if (found == graph.values.end()) found = std::ranges::find_if(graph.values, is_empty);
  if (found == graph.values.end()) return {};
  return fmt::format(
      "{}: example integers are zeros, and with them {} is empty ({}), so that FLOPs, bytes and "
      "times are too small: give your data (--input FILE.npy), or a range "
      "(--input-shape \"7:int64=1..39\")",
      model.name(), found->is_output ? "a result" : "the value " + found->name,
      found->spec.describe());
}

}  // namespace pareto::client
