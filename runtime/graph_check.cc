#include "runtime/graph_check.h"

#include "runtime/archive/operator_review.h"
#include "runtime/declared_types.h"
#include "runtime/kept_values.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/given_result.h"
#include "runtime/torch/sound_casts.h"

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

/// Returns whether an operator that returns any number of values has a taker for each. The others
/// would stay on the stack, or be taken from below it.
bool all_are_taken(const torch::jit::Node& node) {
  if (node.kind() == c10::prim::TupleUnpack) {
    const auto tuple = node.input()->type()->cast<c10::TupleType>();
    return tuple && tuple->elements().size() == node.outputs().size();
  }
  const c10::FunctionSchema* const schema = node.maybeSchema();
  return schema == nullptr || !schema->is_varret() || !node.outputs().empty();
}

Expected<> check_node(const torch::jit::Node& node) {
  PARETO_TRY(check_operator(node.kind().toQualString()));
  const bool casts = node.kind() == c10::prim::unchecked_cast ||
                     node.kind() == c10::prim::unchecked_unwrap_optional;
  if (casts) PARETO_TRY(check_cast(node));
  if (!all_are_taken(node)) {
    return fail(ErrorCode::kPermission, "it takes {} values from {}, which returns others",
                node.outputs().size(), node.kind().toQualString());
  }
  const c10::FunctionSchema* const schema = node.maybeSchema();
  if (schema != nullptr && is_given_its_result(*schema)) {
    return fail(ErrorCode::kPermission,
                "no shard may use {} with a tensor for its result: it changes what memory this "
                "has; take the tensor out of the call",
                node.kind().toQualString());
  }
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
    PARETO_TRY(
        with_context(check_block(code->graph()->block()), "{}", code->qualname().qualifiedName()));
  }
  PARETO_TRY(check_declared_types(module));
  return check_kept_values(module);
}

}  // namespace pareto::runtime
