#include "runtime/shard_module.h"

#include <torch/csrc/jit/passes/constant_propagation.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "runtime/archive/archive_check.h"
#include "runtime/archive/memory_reader.h"
#include "runtime/graph_check.h"
#include "runtime/kept_values.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/convert.h"
#include "runtime/torch/interruption.h"
#include "runtime/torch/map_devices.h"
#include "runtime/torch/operator_fusion.h"
#include "runtime/torch/safe_operators.h"
#include "runtime/torch/tensor_bounds.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

/// Lets each run begin with the same constants and, unless they are kept as written, the same
/// weights. Weights are borrowed, and equal ones share their memory, so a run must write to copies.
void keep_tensors(torch::jit::Module& module, WrittenWeights written) {
  const auto graph = module.get_method("run").graph();
  auto copying = static_cast<std::int64_t>(copy_written_constants(*graph));
  if (written == WrittenWeights::kCopied) {
    copying += static_cast<std::int64_t>(copy_written_weights(*graph));
  }
  if (copying == 0) return;
  if (module.hasattr("prologue")) {
    module.setattr("prologue", module.attr("prologue").toInt() + copying);
  } else {
    module.register_attribute("prologue", c10::IntType::get(), copying);
  }
}

/// Gives operators their module paths.
void name_scopes(const torch::jit::Module& module, const plan::Shard& shard) {
  const auto nodes = operator_nodes(module, *module.get_method("run").graph(), shard);
  for (std::size_t i = 0; i < std::min(nodes.size(), shard.scopes.size()); ++i) {
    const auto root = c10::make_intrusive<torch::jit::Scope>();
    nodes[i]->setScope(root->push(c10::Symbol::scope(shard.scopes[i])));
  }
}

struct LoadedArchive {
  torch::jit::Module module;
  bool needs_own_weights = false;  ///< those that it is given must be no others'
};

Expected<LoadedArchive> load_archive(const plan::Shard& shard, c10::Device device,
                                     WrittenWeights written) {
  try {
    install_safe_operators();
    keep_operators_apart();
    PARETO_TRY(with_context(check_shard_archive(shard.archive), "the archive"));
    std::string archive = shard.archive;
    PARETO_TRY(hide_debug_records(archive));
    torch::jit::Module module = torch::jit::load(std::make_shared<MemoryReader>(archive), device);
    PARETO_TRY(with_context(check_graphs(module), "the archive"));
    PARETO_TRY(with_context(check_tensor_bounds(module), "the archive"));
    const auto method = module.find_method("run");
    if (!method) return fail(ErrorCode::kCorrupt, "the archive has no method run");
    const std::size_t arguments = method->function().getSchema().arguments().size() - 1;
    if (arguments != shard.inputs.size()) {
      return fail(ErrorCode::kCorrupt, "the archive takes {} values, its manifest says {}",
                  arguments, shard.inputs.size());
    }
    module.eval();
    map_devices(module, device);
    for_each_called(module, insert_stop_checks);
    // An archive spells constant lists as code. Folded again, they cost nothing at run time and do
    // not count as operators.
    auto graph = method->graph();
    torch::jit::ConstantPropagation(graph);
    keep_tensors(module, written);
    PARETO_TRY(with_context(check_written_constants(*graph), "the archive"));
    name_scopes(module, shard);
    const bool needs_own = written == WrittenWeights::kCopied && writes_own_weights(module);
    return LoadedArchive{std::move(module), needs_own};
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, "LibTorch {} cannot load the archive (written by {}): {}",
                torch_version(), shard.torch_version, first_line(error));
  }
}

/// Fails if the archive has a tensor that is no weight of the manifest.
Expected<> check_all_named(const torch::jit::Module& module, const plan::Shard& shard) {
  std::unordered_set<std::string_view> named;
  for (const plan::WeightRef& weight : shard.weights) named.insert(weight.name);
  for (const auto& attribute : module.named_attributes(/*recurse=*/false)) {
    if (attribute.value.isTensor() && !named.contains(attribute.name)) {
      return fail(ErrorCode::kCorrupt, "the manifest has no weight {}", attribute.name);
    }
  }
  return {};
}

}  // namespace

Expected<Tensor> fetch_weight(const plan::WeightRef& weight, const WeightSource& weights) {
  PARETO_ASSIGN(Tensor tensor, with_context(weights(weight.digest), "weight {}", weight.name));
  // A store knows only bytes; dtype and shape come from the manifest.
  if (tensor.size_bytes() != weight.size_bytes()) {
    return fail(ErrorCode::kCorrupt, "weight {}: {} bytes, not the {} of {} {}", weight.name,
                tensor.size_bytes(), weight.size_bytes(), pareto::to_string(weight.dtype),
                pareto::to_string(weight.shape));
  }
  return Tensor::borrow(weight.dtype, weight.shape, tensor.bytes().data(), tensor.owner());
}

std::vector<torch::jit::Node*> operator_nodes(const torch::jit::Module& module,
                                              torch::jit::Graph& graph, const plan::Shard& shard) {
  // The tuple of results at the end is none; but it may be constant, or come from an operator.
  const torch::jit::Node* const maker = graph.outputs()[0]->node();
  std::int64_t prologue = module.hasattr("prologue") ? module.attr("prologue").toInt() : 0;
  std::vector<torch::jit::Node*> nodes;
  for (torch::jit::Node* node : graph.nodes()) {
    if (node->kind() == c10::prim::Constant || node->kind() == c10::prim::GetAttr) continue;
    if (node == maker && node->kind() == c10::prim::TupleConstruct) continue;
    if (prologue-- > 0) continue;
    if (static_cast<std::int64_t>(nodes.size()) == shard.end - shard.begin) break;
    nodes.push_back(node);
  }
  return nodes;
}

Expected<torch::jit::Module> load_module(const plan::Shard& shard, const WeightSource& weights,
                                         c10::Device device, WrittenWeights written) {
  PARETO_ASSIGN(const LoadedArchive archive, load_archive(shard, device, written));
  const torch::jit::Module& module = archive.module;
  PARETO_TRY(check_all_named(module, shard));
  for (const plan::WeightRef& weight : shard.weights) {
    if (!module.hasattr(weight.name)) {
      return fail(ErrorCode::kCorrupt, "the archive has no attribute {}", weight.name);
    }
    // LibTorch puts a tensor into any attribute, and code that reads it takes its type for granted.
    if (!module.type()->getAttribute(weight.name)->isSubtypeOf(*c10::OptionalType::ofTensor())) {
      return fail(ErrorCode::kCorrupt, "the archive's attribute {} is no tensor", weight.name);
    }
    PARETO_ASSIGN(const Tensor tensor, fetch_weight(weight, weights));
    try {
      at::Tensor given = to_torch(tensor).to(device);
      module._ivalue()->setAttr(weight.name, archive.needs_own_weights ? given.clone() : given);
    } catch (const std::exception& error) {
      return fail(ErrorCode::kCorrupt, "weight {}: {}", weight.name, first_line(error));
    }
  }
  return module;
}

}  // namespace pareto::runtime
