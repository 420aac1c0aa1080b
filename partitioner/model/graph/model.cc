#include "partitioner/model/graph/model.h"

#include <torch/csrc/jit/passes/canonicalize.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "partitioner/model/graph/examine.h"
#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/hazards.h"
#include "partitioner/model/graph/packed_weights.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/operator_fusion.h"

namespace pareto::model {
namespace {

/// Lets LibTorch's executor prepare what it runs, which shard runners switch off for all of a
/// process. Without it files run otherwise than in Python: constants of no dimensions decide the
/// dtype.
class AsInPython {
 public:
  AsInPython() : before_(torch::jit::getProfilingMode().exchange(true)) {}
  ~AsInPython() { torch::jit::getProfilingMode() = before_; }
  AsInPython(const AsInPython&) = delete;
  AsInPython& operator=(const AsInPython&) = delete;

 private:
  const bool before_;
};

/// Gives weights that the graph writes memory of their own, so that they stay what they are in the
/// file when it is run. Returns those of the file's module, with what they were.
Expected<std::vector<std::pair<at::Tensor, at::Tensor>>> own_state(Flat& flat) {
  std::vector<std::pair<at::Tensor, at::Tensor>> state;
  try {
    find_written_weights(flat);
    for (FlatWeight& weight : flat.weights) {
      if (!weight.is_written) continue;
      const at::Tensor live = std::exchange(weight.tensor, weight.tensor.clone());
      state.emplace_back(live, weight.tensor);
    }
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "analysing aliases: {}", runtime::first_line(error));
  }
  return state;
}

}  // namespace

struct Model::Impl {
  Flat flat;
  std::vector<InputShape> inputs;
  std::optional<std::int64_t> only_batch;
  Graph graph;
  std::vector<SplitPoint> points;
  /// Tensors that the file's module writes when it runs, and what those were in the file.
  std::vector<std::pair<at::Tensor, at::Tensor>> state;
  // Made when first asked for.
  std::optional<torch::jit::Code> whole;
  std::vector<Tensor> weights;
  std::vector<Digest> weight_digests;
  std::unordered_map<Digest, std::size_t> weight_by_digest;
  std::optional<Digest> digest;

  void hash_weights();
  void hash_model();
};

void Model::Impl::hash_weights() {
  if (weight_digests.size() == flat.weights.size()) return;
  for (const FlatWeight& weight : flat.weights) {
    // Examined before: every weight is a dense tensor of a known type.
    weights.push_back(runtime::from_torch(weight.tensor).value());
  }
  weight_digests.resize(weights.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < weights.size(); i = next++) {
      weight_digests[i] = sha256(weights[i].bytes());
    }
  };
  {
    std::vector<std::jthread> helpers;
    const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
    for (unsigned i = 1; i < cores; ++i) helpers.emplace_back(work);
    work();
  }
  for (std::size_t i = 0; i < weights.size(); ++i) weight_by_digest[weight_digests[i]] = i;
}

/// Hashes a tensor; one that is quantised by its integers and their scales.
void hash_tensor(const at::Tensor& tensor, Hasher& hasher) {
  if (!tensor.defined()) return;
  if (tensor.is_quantized() && tensor.qscheme() == c10::kPerTensorAffine) {
    hasher.update(fmt::format(";{}+{}", tensor.q_scale(), tensor.q_zero_point()));
  } else if (tensor.is_quantized()) {
    hash_tensor(tensor.q_per_channel_scales(), hasher);
    hash_tensor(tensor.q_per_channel_zero_points(), hasher);
  }
  const auto dense = runtime::from_torch(tensor.is_quantized() ? tensor.int_repr() : tensor);
  if (dense) hasher.update(dense->bytes());
}

/// Hashes packed weights, and takes them out of the graph: its text would tell where in memory they
/// lie.
void hash_packed(torch::jit::Graph& graph, Hasher& hasher) {
  for (torch::jit::Node* node : nodes_of_kind(graph.block(), c10::prim::Constant)) {
    const auto value = torch::jit::toIValue(node->output());
    if (!value || !value->isCustomClass()) continue;
    for (const at::Tensor& tensor : packed_tensors(*value)) hash_tensor(tensor, hasher);
    node->removeAttribute(c10::attr::value);
  }
}

void Model::Impl::hash_model() {
  if (digest) return;
  hash_weights();
  Hasher hasher;
  const auto canonical = torch::jit::Canonicalize(flat.graph, /*keep_unique_names=*/false);
  hash_packed(*canonical, hasher);
  hasher.update(canonical->toString(/*print_source_locations=*/false));
  // The text does not show what tensors in constants hold.
  const auto hash_part = [&](const c10::IValue& part) {
    if (!part.isTensor()) return false;
    hash_tensor(part.toTensor(), hasher);
    return true;
  };
  for_each_node(canonical->block(), [&](torch::jit::Node* node) {
    if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value)) return;
    if (const auto value = torch::jit::toIValue(node->output())) value->visit(hash_part);
  });
  for (std::size_t i = 0; i < weight_digests.size(); ++i) {
    hasher.update(flat.weights[i].name);
    hasher.update(weight_digests[i].bytes);
  }
  for (const InputShape& input : inputs) {
    hasher.update(fmt::format(";{}:{}", to_string(input.per_sample), to_string(input.dtype)));
    if (input.batch_at != std::size_t{0} || input.range || !input.sizes.empty())
      hasher.update(to_text({input}));
  }
  digest = hasher.finish();
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Expected<Model> Model::examine(Flat flat, std::vector<InputShape> inputs,
                               const std::vector<std::int64_t>& batches) {
  runtime::keep_operators_apart();
  const std::string name = flat.model;
  PARETO_TRY(with_context(bind_inputs(flat, inputs), "model {}", name));
  PARETO_ASSIGN(auto state, with_context(own_state(flat), "model {}", name));
  PARETO_TRY(with_context(remove_writes(flat, inputs, batches), "model {}", name));
  PARETO_ASSIGN(Examined examined,
                with_context(examine_flat(flat, inputs, batches), "model {}", name));
  auto points = find_split_points(examined.graph, examined.illegal);
  auto impl = std::make_unique<Impl>();
  impl->flat = std::move(flat);
  impl->state = std::move(state);
  impl->inputs = std::move(inputs);
  impl->only_batch = examined.only_batch;
  impl->graph = std::move(examined.graph);
  impl->points = std::move(points);
  return Model(std::move(impl));
}

const std::string& Model::name() const { return impl_->graph.model; }
const Graph& Model::graph() const { return impl_->graph; }
const std::vector<SplitPoint>& Model::split_points() const { return impl_->points; }
const Flat& Model::flat() const { return impl_->flat; }
const std::vector<InputShape>& Model::inputs() const { return impl_->inputs; }
std::optional<std::int64_t> Model::only_batch() const { return impl_->only_batch; }

const Digest& Model::digest() const {
  impl_->hash_model();
  return *impl_->digest;
}

const std::vector<Digest>& Model::weight_digests() const {
  impl_->hash_weights();
  return impl_->weight_digests;
}

Expected<Tensor> Model::weight(const Digest& digest) const {
  impl_->hash_weights();
  const auto found = impl_->weight_by_digest.find(digest);
  if (found == impl_->weight_by_digest.end()) {
    return fail(ErrorCode::kNotFound, "model {} has no weight with digest {}", name(),
                digest.hex());
  }
  return impl_->weights[found->second];
}

Expected<std::vector<Value>> Model::example_inputs(std::int64_t batch, std::uint64_t seed,
                                                   const std::vector<std::int64_t>& sizes) const {
  const std::vector<InputShape> inputs = with_sizes(impl_->inputs, sizes);
  if (batch < 1) return fail(ErrorCode::kInvalidArgument, "batch {}: it starts at 1", batch);
  std::vector<Value> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PARETO_ASSIGN(Value value, example_of(inputs[i], batch, seed + i));
    values.push_back(std::move(value));
  }
  return values;
}

Expected<std::vector<Value>> Model::run_whole(const std::vector<Value>& inputs) const {
  if (inputs.size() != impl_->inputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "model {} takes {} inputs, not {}", name(),
                impl_->inputs.size(), inputs.size());
  }
  try {
    const torch::NoGradGuard no_grad;
    runtime::DropWarnings drop;
    const runtime::warning_api::WarningHandlerGuard quiet(&drop);
    torch::jit::Stack stack;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto value = runtime::to_ivalue(inputs[i], impl_->flat.graph->inputs()[i]->type());
      // A model may write to its input, whose bytes others share.
      stack.push_back(value.isTensor() ? c10::IValue(value.toTensor().clone()) : value);
    }
    if (impl_->flat.original) {
      const AsInPython mode;
      for (const auto& [live, initial] : impl_->state) live.copy_(initial);
      stack = {impl_->flat.original->forward(std::move(stack))};
    } else {
      if (!impl_->whole) impl_->whole.emplace(impl_->flat.graph, "whole");
      for (const FlatWeight& weight : impl_->flat.weights) stack.emplace_back(weight.to_run());
      torch::jit::InterpreterState(*impl_->whole).run(stack);
    }
    std::vector<Value> outputs;
    for (const c10::IValue& output : stack) {
      PARETO_ASSIGN(Value value, runtime::from_ivalue(output));
      outputs.push_back(std::move(value));
    }
    return outputs;
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "model {}: {}", name(), runtime::first_line(error));
  }
}

}  // namespace pareto::model
