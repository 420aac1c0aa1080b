#include "runtime/torch/safe_operators.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/counted.h"
#include "runtime/torch/checked_layers.h"
#include "runtime/torch/checked_tensors.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/operator_checks.h"
#include "runtime/torch/sound_casts.h"

namespace pareto::runtime {
namespace {

using torch::jit::Operator;
using torch::jit::Stack;

void check_division(const Stack& stack) {
  const c10::IValue& dividend = stack[stack.size() - 2];
  const c10::IValue& divisor = stack.back();
  if (!dividend.isInt() || !divisor.isInt()) return;
  if (divisor.toInt() == 0) throw std::runtime_error("a whole number is divided by 0");
  if (divisor.toInt() == -1 && dividend.toInt() == std::numeric_limits<std::int64_t>::min()) {
    throw std::runtime_error("the least whole number is divided by -1");
  }
}

/// Checks numbers whose greatest common divisor is taken: each is divided by the other in turn.
void check_divisor(const Stack& stack) {
  const std::int64_t left = stack[stack.size() - 2].toInt();
  const std::int64_t right = stack.back().toInt();
  if (std::min(left, right) == std::numeric_limits<std::int64_t>::min() &&
      std::max(left, right) == -1) {
    throw std::runtime_error("the least whole number is divided by -1");
  }
}

/// Checks that a text which is looked for is not empty: the kernel would look without end.
void check_looked_for(const char* name, const char* argument) {
  put_before_each(name, [name, argument](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, wanted = StackArgument(schema, argument)](const Stack& stack) {
      const c10::IValue text = wanted.in(stack);
      if (!text.isString() || !text.toStringRef().empty()) return;
      throw std::runtime_error(fmt::format("{}: an empty text is looked for", name));
    };
  });
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

/// The kernel reads an element of each row where it lies, even if the rows have none.
void check_row(const Stack& stack) {
  const at::Tensor& row = stack.back().toTensor();
  if (row.dim() == 1 && row.is_cpu()) return;
  throw std::runtime_error("_tensor_to_list: it takes one row of numbers in the CPU's memory");
}
bool is_any(const c10::FunctionSchema& /*schema*/) { return true; }
bool has_two_arguments(const c10::FunctionSchema& schema) { return schema.arguments().size() == 2; }

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

/// The lengths that lists of whole numbers have to have: kernels take their elements unchecked.
struct ListLengths {
  const char* name;
  std::vector<std::pair<std::string, std::size_t>> lengths;  ///< the length of each argument
};

const std::vector<ListLengths>& list_lengths() {
  static const std::vector<ListLengths> kLengths{
      {"aten::reflection_pad1d", {{"padding", 2}}},
      {"aten::reflection_pad2d", {{"padding", 4}}},
      {"aten::reflection_pad3d", {{"padding", 6}}},
      {"aten::replication_pad1d", {{"padding", 2}}},
      {"aten::replication_pad2d", {{"padding", 4}}},
      {"aten::replication_pad3d", {{"padding", 6}}},
      {"aten::max_pool1d", {{"kernel_size", 1}, {"padding", 1}, {"dilation", 1}}},
      {"aten::quantized_max_pool1d", {{"kernel_size", 1}, {"padding", 1}, {"dilation", 1}}},
      {"quantized::max_pool1d", {{"kernel_size", 1}, {"padding", 1}, {"dilation", 1}}},
      {"aten::_adaptive_avg_pool2d", {{"output_size", 2}}},
      {"aten::_adaptive_avg_pool3d", {{"output_size", 3}}},
      {"aten::max_unpool2d", {{"output_size", 2}}},
      {"aten::max_unpool3d", {{"output_size", 3}, {"stride", 3}, {"padding", 3}}}};
  return kLengths;
}

void check_lengths(const ListLengths& wanted) {
  put_before_each(wanted.name, [&wanted](const c10::FunctionSchema& schema) -> StackCheck {
    std::vector<StackArgument> lists;
    for (const auto& [name, length] : wanted.lengths) lists.emplace_back(schema, name);
    return [&wanted, lists](const Stack& stack) {
      for (std::size_t i = 0; i < lists.size(); ++i) {
        const c10::IValue list = lists[i].in(stack);
        const auto& [name, length] = wanted.lengths[i];
        if (!list.isIntList() || list.toIntVector().size() == length) continue;
        throw std::runtime_error(fmt::format("{}: {} has {}, not {}", wanted.name, name,
                                             counted(list.toIntVector().size(), "number"), length));
      }
    };
  });
}

bool is_whole(const c10::IValue& value) {
  return value.isInt() || (value.isTensor() && value.toTensor().defined() &&
                           c10::isIntegralType(value.toTensor().scalar_type(), true));
}

/// Returns the type that a kernel divides in.
c10::ScalarType common_type(const c10::IValue& one, const c10::IValue& other) {
  if (one.isInt()) return at::result_type(one.toInt(), other.toTensor());
  if (other.isInt()) return at::result_type(one.toTensor(), other.toInt());
  return at::result_type(one.toTensor(), other.toTensor());
}

/// Returns whether a number is among the values, once they are of that type.
bool holds(const c10::IValue& value, c10::ScalarType type, std::int64_t number) {
  const at::Tensor all =
      value.isInt() ? at::scalar_tensor(value.toInt(), at::kLong) : value.toTensor();
  return all.to(type).eq(number).any().item<bool>();
}

/// Returns the least number of a type that kernels divide in, which has no positive counterpart;
/// nullopt: the numbers are smaller, and divided as int.
std::optional<std::int64_t> least_of(c10::ScalarType type) {
  if (type == c10::ScalarType::Int) return std::numeric_limits<std::int32_t>::min();
  if (type == c10::ScalarType::Long) return std::numeric_limits<std::int64_t>::min();
  return std::nullopt;
}

/// Checks tensors whose least common multiple is taken: it is divided by their divisor, which may
/// be -1 if one of them holds the least number.
void check_multiple(const Stack& stack) {
  const c10::IValue& left = stack[stack.size() - 2];
  const c10::IValue& right = stack.back();
  if (!is_whole(left) || !is_whole(right)) return;
  const c10::ScalarType type = common_type(left, right);
  const auto least = least_of(type);
  if (least && (holds(left, type, *least) || holds(right, type, *least))) {
    throw std::runtime_error("the least whole number has no multiple");
  }
}

/// Returns whether both are tensors in one memory.
bool share_memory(const c10::IValue& one, const c10::IValue& other) {
  return one.isTensor() && other.isTensor() && one.toTensor().has_storage() &&
         other.toTensor().has_storage() && one.toTensor().is_alias_of(other.toTensor());
}

/// Checks a division of whole numbers element by element; divisions by 0 are checked by kernels.
/// One in place may write a -1 over what it goes on to divide by.
void check_tensor_division(const Stack& stack, std::size_t arguments, bool in_place) {
  const c10::IValue& dividend = stack[stack.size() - arguments];
  const c10::IValue& divisor = stack[stack.size() - arguments + 1];
  if (!is_whole(dividend) || !is_whole(divisor) || (dividend.isInt() && divisor.isInt())) return;
  const c10::ScalarType type = common_type(dividend, divisor);
  const auto least = least_of(type);
  if (least && holds(dividend, type, *least) &&
      (holds(divisor, type, -1) || (in_place && share_memory(dividend, divisor)))) {
    throw std::runtime_error("the least whole number is divided by -1");
  }
}

void check_tensor_divisions(const char* name) {
  for (const std::size_t arguments : {2U, 3U, 4U}) {
    put_before(
        name,
        [arguments](const c10::FunctionSchema& schema) {
          const auto is_tensor = [&](std::size_t index) {
            return schema.arguments()[index].type()->kind() == c10::TypeKind::TensorType;
          };
          return schema.arguments().size() == arguments && (is_tensor(0) || is_tensor(1));
        },
        [arguments, in_place = std::string_view(name).ends_with('_')](const Stack& stack) {
          check_tensor_division(stack, arguments, in_place);
        });
  }
}

/// Returns what does nothing. Throws if the cast is unsound: LibTorch folds those of constants, and
/// what takes their results, while it reads code.
torch::jit::Operation make_cast(const torch::jit::Node* cast) {
  if (cast != nullptr) {
    if (const auto checked = check_cast(*cast); !checked) {
      throw std::runtime_error(checked.error().message);
    }
  }
  return [](Stack& /*stack*/) {};
}

void check_casts() {
  // Nodes made before keep pointers to the operators that are replaced.
  static const std::vector<std::shared_ptr<Operator>> kReplaced =
      torch::jit::getAllOperatorsFor(c10::prim::unchecked_cast);
  for (const std::shared_ptr<Operator>& known : kReplaced) {
    const c10::FunctionSchema schema = known->schema();
    torch::jit::deregisterOperator(schema);
    torch::jit::registerOperator(
        Operator(c10::toString(schema), make_cast, known->aliasAnalysisKind()));
  }
}

}  // namespace

void install_safe_operators() {
  static const bool kInstalled = [] {
    for (const char* const division :
         {"aten::remainder", "aten::floordiv", "aten::divmod", "aten::__round_to_zero_floordiv"}) {
      put_before(division, is_of_numbers, check_division);
    }
    for (const char* const division :
         {"aten::remainder", "aten::remainder_", "aten::floor_divide", "aten::floor_divide_",
          "aten::fmod", "aten::fmod_", "aten::div", "aten::div_", "aten::divide",
          "aten::divide_"}) {
      check_tensor_divisions(division);
    }
    check_looked_for("aten::replace", "old");
    check_looked_for("aten::rsplit", "separator");
    put_before("aten::gcd", is_of_numbers, check_divisor);
    for (const char* const multiple : {"aten::lcm", "aten::lcm_"}) {
      put_before(multiple, has_two_arguments, check_multiple);
    }
    for (const ListLengths& lengths : list_lengths()) check_lengths(lengths);
    put_before("aten::_tensor_to_list", is_any, check_row);
    check_casts();
    check_layers();
    check_tensor_operators();
    put_before("aten::sort", sorts_list, check_sort);
    put_before("aten::sorted", sorts_list, check_sorted);
    return true;
  }();
  static_cast<void>(kInstalled);
}

}  // namespace pareto::runtime
