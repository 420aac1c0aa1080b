#include "runtime/torch/given_results.h"

#include <algorithm>
#include <string>

#include "runtime/torch/compat.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

/// Returns whether an operator is one: operators that work in place take what they write first.
bool is_given_its_result(const torch::jit::Node* node) {
  const c10::FunctionSchema* const schema = node->maybeSchema();
  return schema != nullptr && std::ranges::any_of(schema->arguments(), [](const auto& argument) {
           return argument.kwarg_only() && argument.alias_info() != nullptr &&
                  argument.alias_info()->isWrite();
         });
}

}  // namespace

Expected<> check_given_results(const torch::jit::Module& module) {
  std::string found;
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    torch::jit::GraphFunction* const code = torch::jit::tryToGraphFunction(*function);
    if (code == nullptr) continue;
    for_each_node(code->graph()->block(), [&](const torch::jit::Node* node) {
      if (is_given_its_result(node)) found = node->kind().toQualString();
    });
  }
  if (found.empty()) return {};
  return fail(ErrorCode::kPermission,
              "no shard may use {} with a tensor for its result: it changes what memory this has; "
              "take the tensor out of the call",
              found);
}

}  // namespace pareto::runtime
