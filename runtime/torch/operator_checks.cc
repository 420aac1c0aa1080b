#include "runtime/torch/operator_checks.h"

#include <memory>
#include <utility>
#include <vector>

namespace pareto::runtime {

namespace jit = torch::jit;

void put_before(const char* name, const IsMeant& is_meant, const StackCheck& check) {
  // A copy: LibTorch's own list changes in the loop.
  const std::vector<std::shared_ptr<jit::Operator>> all =
      jit::getAllOperatorsFor(c10::Symbol::fromQualString(name));
  for (const std::shared_ptr<jit::Operator>& known : all) {
    if (!is_meant(known->schema())) continue;
    const c10::FunctionSchema schema = known->schema();
    // Nodes made before keep a pointer to the operator that is replaced.
    jit::Operation checked = [known, operation = known->getOperation(),
                              check](jit::Stack& stack) mutable {
      check(stack);
      operation(stack);
    };
    jit::deregisterOperator(schema);
    jit::registerOperator(jit::Operator(schema.name(), schema.overload_name(), schema.arguments(),
                                        schema.returns(), std::move(checked),
                                        known->aliasAnalysisKind()));
  }
}

void put_before_each(const char* name, const MakeCheck& make) {
  const auto all = jit::getAllOperatorsFor(c10::Symbol::fromQualString(name));
  for (const std::shared_ptr<jit::Operator>& known : all) {
    const std::string overload = known->schema().overload_name();
    const auto is_this = [&](const c10::FunctionSchema& schema) {
      return schema.overload_name() == overload;
    };
    put_before(name, is_this, make(known->schema()));
  }
}

void put_before_input(const char* name, const std::function<void(const at::Tensor&)>& check) {
  put_before_each(name, [&](const c10::FunctionSchema& schema) -> StackCheck {
    return [check, input = StackArgument(schema, schema.arguments().at(0).name())](
               const jit::Stack& stack) {
      if (const at::Tensor given = input.tensor_in(stack); given.defined()) check(given);
    };
  });
}

StackArgument::StackArgument(const c10::FunctionSchema& schema, const std::string& name) {
  const auto& arguments = schema.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() == name) from_end_ = arguments.size() - i;
  }
}

c10::IValue StackArgument::in(const jit::Stack& stack) const {
  return from_end_ == 0 ? c10::IValue() : stack[stack.size() - from_end_];
}

at::Tensor StackArgument::tensor_in(const jit::Stack& stack) const {
  const c10::IValue value = in(stack);
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

}  // namespace pareto::runtime
