#include "runtime/graph_check.h"

#include "runtime/archive/operator_review.h"
#include "runtime/kept_values.h"
#include "runtime/torch/compat.h"

namespace pareto::runtime {
namespace {

/// Returns the function that a node calls; null: one that is not of the archive.
torch::jit::Function* called_by(const torch::jit::Node& node) {
  if (node.kind() == c10::prim::CallFunction) {
    const auto type = node.input(0)->type()->cast<c10::FunctionType>();
    return type ? torch::jit::tryToGraphFunction(*type->function()) : nullptr;
  }
  const auto object = node.input(0)->type()->cast<c10::ClassType>();
  auto* const method = object ? object->findMethod(node.s(c10::attr::name)) : nullptr;
  return method != nullptr ? torch::jit::tryToGraphFunction(*method) : nullptr;
}

Expected<> check_node(const torch::jit::Node& node) {
  PARETO_TRY(check_operator(node.kind().toQualString()));
  const bool calls = node.kind() == c10::prim::CallFunction || node.kind() == c10::prim::CallMethod;
  if (calls && called_by(node) == nullptr) {
    return fail(ErrorCode::kPermission, "it calls a function that the archive does not have");
  }
  for (const torch::jit::Value* const output : node.outputs()) {
    PARETO_TRY(check_value_type(output->type()));
  }
  return {};
}

Expected<> check_block(torch::jit::Block* block) {
  for (torch::jit::Node* const node : block->nodes()) {
    PARETO_TRY(check_node(*node));
    for (torch::jit::Block* const inner : node->blocks()) PARETO_TRY(check_block(inner));
  }
  return {};
}

}  // namespace

Expected<> check_graphs(const torch::jit::Module& module) {
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    auto* const code = torch::jit::tryToGraphFunction(*function);
    if (code == nullptr) {
      return fail(ErrorCode::kPermission, "no shard may have the function {}", function->name());
    }
    code->ensure_defined();
    PARETO_TRY(check_block(code->graph()->block()));
  }
  return check_kept_values(module);
}

}  // namespace pareto::runtime
