#include "core/runtime/torch/safe_operators.h"

#include <torch/csrc/jit/runtime/operator.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/runtime/torch/compat.h"

namespace pareto::runtime {
namespace {

using torch::jit::Operation;
using torch::jit::Operator;
using torch::jit::Stack;
/// Throws if the operator may not run on what the stack ends with.
using StackCheck = void (*)(const Stack&);

void check_division(const Stack& stack) {
  const c10::IValue& dividend = stack[stack.size() - 2];
  const c10::IValue& divisor = stack.back();
  if (!dividend.isInt() || !divisor.isInt()) return;
  if (divisor.toInt() == 0) throw std::runtime_error("a whole number is divided by 0");
  if (divisor.toInt() == -1 && dividend.toInt() == std::numeric_limits<std::int64_t>::min()) {
    throw std::runtime_error("the least whole number is divided by -1");
  }
}

void check_order(const c10::IValue& list) {
  if (!list.isDoubleList()) throw std::runtime_error("a list of values without an order is sorted");
  for (const double value : list.toDoubleVector()) {
    if (std::isnan(value)) throw std::runtime_error("a list with a NaN is sorted");
  }
}
void check_sorted(const Stack& stack) { check_order(stack.back()); }
/// sort() has a flag behind the list.
void check_sort(const Stack& stack) { check_order(stack[stack.size() - 2]); }

bool is_of_numbers(const c10::FunctionSchema& schema) {
  const auto is_number = [](const c10::Argument& argument) {
    const auto kind = argument.type()->kind();
    return kind == c10::TypeKind::IntType || kind == c10::TypeKind::NumberType;
  };
  const auto& arguments = schema.arguments();
  return arguments.size() == 2 && is_number(arguments[0]) && is_number(arguments[1]);
}

/// Returns whether it sorts a list of what may have no order.
bool sorts_list(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const auto list = arguments.empty() ? nullptr : arguments[0].type()->cast<c10::ListType>();
  if (list == nullptr) return false;
  const auto kind = list->getElementType()->kind();
  return kind == c10::TypeKind::FloatType || kind == c10::TypeKind::TensorType ||
         kind == c10::TypeKind::VarType;
}

/// Puts the check before those operators of the name that `is_meant` takes.
void put_before(const char* name, bool (*is_meant)(const c10::FunctionSchema&), StackCheck check) {
  // A copy: LibTorch's own list changes in the loop.
  const std::vector<std::shared_ptr<Operator>> all =
      torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name));
  for (const std::shared_ptr<Operator>& known : all) {
    if (known->isC10Op() || !is_meant(known->schema())) continue;
    const c10::FunctionSchema schema = known->schema();
    // Nodes made before keep a pointer to the operator that is replaced.
    Operation checked = [known, operation = known->getOperation(), check](Stack& stack) mutable {
      check(stack);
      operation(stack);
    };
    torch::jit::deregisterOperator(schema);
    torch::jit::registerOperator(Operator(schema.name(), schema.overload_name(), schema.arguments(),
                                          schema.returns(), std::move(checked),
                                          known->aliasAnalysisKind()));
  }
}

}  // namespace

void install_safe_operators() {
  static const bool kInstalled = [] {
    for (const char* const division :
         {"aten::remainder", "aten::floordiv", "aten::divmod", "aten::__round_to_zero_floordiv"}) {
      put_before(division, is_of_numbers, check_division);
    }
    put_before("aten::sort", sorts_list, check_sort);
    put_before("aten::sorted", sorts_list, check_sorted);
    return true;
  }();
  static_cast<void>(kInstalled);
}

}  // namespace pareto::runtime
