#include "runtime/torch/shard_boundary.h"

#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>
#include <utility>

#include "runtime/torch/compat.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/map_tensors.h"
#include "runtime/torch/reached_writes.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

/// Fails unless a tensor has the dtype and rank that the model was examined with. The graph itself
/// checks its sizes.
Expected<> check(const plan::BoundaryValue& expected, const Value& value) {
  const Tensor* tensor = value.get_if<Tensor>();
  if (tensor == nullptr || expected.spec.kind != ValueSpec::Kind::kTensor) return {};
  const TensorSpec& spec = expected.spec.tensor;
  if (tensor->dtype() == spec.dtype && tensor->shape().size() == spec.dims.size()) return {};
  return fail(ErrorCode::kInvalidArgument, "input {} is {}, the shard takes {}", expected.name,
              describe(value), expected.spec.describe());
}

bool contains(const ValueSpec& spec, DType dtype) {
  const auto tensors = tensors_of(spec);
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const TensorSpec& tensor) { return tensor.dtype == dtype; });
}

c10::IValue to_float32(const c10::IValue& value) {
  return map_tensors(value, [](const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kBFloat16 ? tensor.to(at::kFloat) : tensor;
  });
}

}  // namespace

ShardBoundary::ShardBoundary(const torch::jit::Module& module, const plan::Shard& shard,
                             c10::Device device)
    : inputs_(shard.inputs), outputs_(shard.outputs), device_(device) {
  const auto graph = module.get_method("run").graph();
  const torch::jit::AliasDb aliases(graph);
  // A container may hold a tensor that is written.
  const bool writes = writes_anything(graph->block());
  for (const auto* input : graph->inputs().slice(1)) {
    types_.push_back(input->type());
    const bool tensor = input->type()->kind() == c10::TypeKind::TensorType;
    written_.push_back(tensor ? aliases.hasWriters(input) || may_write_to(*graph, {input})
                              : writes);
  }
}

Expected<c10::IValue> ShardBoundary::to_argument(const Value& value, std::size_t index) const {
  PARETO_TRY(check(inputs_[index], value));
  try {
    return map_tensors(to_ivalue(value, types_[index]), [&](const at::Tensor& tensor) {
      const at::Tensor here = tensor.to(device_);
      // A message's bytes are shared and must not change.
      return written_[index] && here.is_same(tensor) ? here.clone() : here;
    });
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "input {}: {}", inputs_[index].name,
                first_line(error));
  }
}

Expected<std::vector<c10::IValue>> ShardBoundary::to_arguments(
    const std::vector<Value>& values) const {
  if (values.size() != types_.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} values given, the shard takes {}", values.size(),
                types_.size());
  }
  std::vector<c10::IValue> arguments;
  arguments.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    PARETO_ASSIGN(c10::IValue argument, to_argument(values[i], i));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Expected<std::vector<Value>> ShardBoundary::example_values(std::int64_t batch,
                                                           std::uint64_t seed) const {
  return make_examples(inputs_, batch, seed);
}

Expected<std::vector<Value>> ShardBoundary::to_values(
    const std::vector<c10::IValue>& results) const {
  std::vector<Value> values;
  values.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    PARETO_ASSIGN(Value value, to_value(i, results[i]));
    values.push_back(std::move(value));
  }
  return values;
}

Expected<Value> ShardBoundary::to_value(std::size_t index, const c10::IValue& result) const {
  const bool keeps = index < outputs_.size() && contains(outputs_[index].spec, DType::kBFloat16);
  return from_ivalue(keeps ? result : to_float32(result));
}

}  // namespace pareto::runtime
