#include "runtime/torch/checked_tensors.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/counted.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/given_result.h"
#include "runtime/torch/operator_checks.h"

namespace pareto::runtime {
namespace {

using torch::jit::Stack;

/// No tensor reaches further, in elements: of larger numbers LibTorch cannot count the bytes.
constexpr std::int64_t kFurthest = std::int64_t{1} << 56;

/// Most repeats of one thing. Of more, the sum might not be a number.
constexpr std::int64_t kMostRepeats = std::int64_t{1} << 31;

/// Returns whether strides lead no further than kFurthest.
bool are_near(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
              std::int64_t offset) {
  if (sizes.size() != strides.size() || offset < 0) return false;
  std::int64_t last = offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::int64_t span = 0;
    if (sizes[i] < 0 || strides[i] < 0 || __builtin_mul_overflow(sizes[i], strides[i], &span) ||
        __builtin_add_overflow(last, span, &last)) {
      return false;
    }
  }
  return last < kFurthest;
}

void check_strides(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, sizes = StackArgument(schema, "size"), strides = StackArgument(schema, "stride"),
            offset = StackArgument(schema, "storage_offset")](const Stack& stack) {
      const c10::IValue from = offset.in(stack);
      if (are_near(sizes.in(stack).toIntVector(), strides.in(stack).toIntVector(),
                   from.isInt() ? from.toInt() : 0)) {
        return;
      }
      throw std::runtime_error(
          fmt::format("{}: its sizes, strides and offset lead out of any tensor", name));
    };
  });
}

/// Checks that bytes are not seen as numbers with a scale, nor those with one as others.
void check_seen_type(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, "self"),
            type = StackArgument(schema, "dtype")](const Stack& stack) {
      const c10::IValue wanted = type.in(stack);
      if (!wanted.isInt()) return;
      const auto to = static_cast<c10::ScalarType>(wanted.toInt());
      if (!c10::isQIntType(to) && to != c10::ScalarType::Undefined &&
          !input.tensor_in(stack).is_quantized()) {
        return;
      }
      throw std::runtime_error(fmt::format("{}: its bytes are no such numbers", name));
    };
  });
}

/// Checks that zero points of 32-bit numbers are whole: the kernel of those that are not divides by
/// how many numbers a byte has.
void check_zero_points(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, points = StackArgument(schema, "zero_points"),
            type = StackArgument(schema, "dtype")](const Stack& stack) {
      const c10::IValue to = type.in(stack);
      if (!to.isInt() || to.toInt() != static_cast<std::int64_t>(c10::ScalarType::QInt32) ||
          !points.tensor_in(stack).is_floating_point()) {
        return;
      }
      throw std::runtime_error(fmt::format("{}: zero points are no whole numbers", name));
    };
  });
}

/// Checks that counts of repeats add up to a number: kernels write as they go through them.
void check_repeats(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, repeats = StackArgument(schema, "repeats")](const Stack& stack) {
      const c10::IValue value = repeats.in(stack);
      const at::Tensor counts = value.isInt()      ? at::scalar_tensor(value.toInt(), at::kLong)
                                : value.isTensor() ? value.toTensor()
                                                   : at::Tensor();
      if (!counts.defined()) return;
      if (counts.ge(0).logical_and(counts.le(kMostRepeats)).all().item<bool>()) return;
      throw std::runtime_error(
          fmt::format("{}: a count is not between 0 and {}", name, kMostRepeats));
    };
  });
}

/// Checks that no more than its number is taken from a tensor of one.
void check_selection(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, "self"),
            index = StackArgument(schema, "index")](const Stack& stack) {
      if (input.tensor_in(stack).dim() > 0 || index.tensor_in(stack).numel() <= 1) return;
      throw std::runtime_error(fmt::format("{}: a tensor of one number has no others", name));
    };
  });
}

/// Checks that there can be a count for each number up to the largest one.
void check_bins(const char* name) {
  put_before_input(name, [name](const at::Tensor& numbers) {
    if (numbers.numel() == 0 || numbers.le(kFurthest).all().item<bool>()) return;
    throw std::runtime_error(fmt::format("{}: a number is larger than {}", name, kFurthest));
  });
}

/// Checks that there is a spacing for each dimension along which differences are taken.
void check_spacing(const char* name) {
  put_before_each(name, [name](const c10::FunctionSchema& schema) -> StackCheck {
    return [name, input = StackArgument(schema, "self"), along = StackArgument(schema, "dim"),
            spacing = StackArgument(schema, "spacing")](const Stack& stack) {
      const c10::IValue given = spacing.in(stack);
      const c10::IValue dimension = along.in(stack);
      if (!given.isList() || dimension.isIntList()) return;
      const std::int64_t wanted = dimension.isInt() ? 1 : input.tensor_in(stack).dim();
      if (static_cast<std::int64_t>(given.toListRef().size()) == wanted) return;
      throw std::runtime_error(fmt::format("{}: it has {}, not {}", name,
                                           counted(given.toListRef().size(), "spacing"), wanted));
    };
  });
}

/// An argument that says a kind by a number, and how many kinds there are.
struct KindArgument {
  StackArgument value;
  std::int64_t kinds;
};

/// Arguments of one operator that are whole numbers, or lists of them.
struct NumberArguments {
  std::vector<KindArgument> kinds;
  std::vector<StackArgument> numbers;
};

/// Returns the type of an argument that may be left out, and of the elements of a list of whole
/// numbers.
c10::TypePtr inner_type(c10::TypePtr type) {
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  const auto list = type->cast<c10::ListType>();
  return list != nullptr && list->getElementType()->kind() == c10::TypeKind::IntType
             ? list->getElementType()
             : type;
}

constexpr auto kTypes = static_cast<std::int64_t>(c10::ScalarType::NumOptions);

/// Returns whether a byte of that type holds several numbers. equal() reads a byte for each.
bool are_parts_of_bytes(std::int64_t type) {
  return type == static_cast<std::int64_t>(c10::ScalarType::QUInt4x2) ||
         type == static_cast<std::int64_t>(c10::ScalarType::QUInt2x4);
}

std::int64_t kinds_of(const c10::Argument& argument) {
  switch (inner_type(argument.real_type())->kind()) {
    case c10::TypeKind::ScalarTypeType:
      return kTypes;
    // No shard may use the operators of the other layouts.
    case c10::TypeKind::LayoutType:
      return static_cast<std::int64_t>(c10::Layout::Strided) + 1;
    case c10::TypeKind::MemoryFormatType:
      return static_cast<std::int64_t>(c10::MemoryFormat::ChannelsLast3d) + 1;
    case c10::TypeKind::IntType:  // as aten::to takes it
      return argument.name() == "dtype" ? kTypes : 0;
    default:
      return 0;
  }
}

NumberArguments numbers_of(const c10::FunctionSchema& schema) {
  const auto is_tensor = [](const c10::Argument& one) {
    return inner_type(one.type())->kind() == c10::TypeKind::TensorType;
  };
  const bool has_tensor = std::ranges::any_of(schema.arguments(), is_tensor) ||
                          std::ranges::any_of(schema.returns(), is_tensor);
  NumberArguments found;
  for (const c10::Argument& argument : schema.arguments()) {
    const StackArgument value(schema, argument.name());
    if (const std::int64_t kinds = kinds_of(argument); kinds > 0) {
      found.kinds.push_back({value, kinds});
    } else if (has_tensor && inner_type(argument.type())->kind() == c10::TypeKind::IntType) {
      found.numbers.push_back(value);
    }
  }
  return found;
}

/// LibTorch 1.13 takes a size for a pointer to a symbolic one if it is less than half the least
/// number. Nothing of a tensor is counted by as much.
constexpr std::int64_t kLeastNumber = -(std::int64_t{1} << 60);

bool has_too_small(const c10::IValue& value) {
  if (value.isInt()) return value.toInt() < kLeastNumber;
  if (!value.isIntList()) return false;
  const c10::List<std::int64_t> all = value.toIntList();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.get(i) < kLeastNumber) return true;
  }
  return false;
}

void check_number_arguments(const std::string& name, const NumberArguments& arguments,
                            const Stack& stack) {
  for (const auto& [argument, count] : arguments.kinds) {
    const c10::IValue value = argument.in(stack);
    if (!value.isInt()) continue;
    if (value.toInt() < 0 || value.toInt() >= count) {
      throw std::runtime_error(
          fmt::format("{}: there is no kind {}, only those below {}", name, value.toInt(), count));
    }
    if (count == kTypes && are_parts_of_bytes(value.toInt())) {
      throw std::runtime_error(fmt::format("{}: its kernels read a byte for each number", name));
    }
  }
  for (const StackArgument& argument : arguments.numbers) {
    if (!has_too_small(argument.in(stack))) continue;
    throw std::runtime_error(fmt::format("{}: a number is less than {}", name, kLeastNumber));
  }
}

/// Checks the whole numbers that every operator of tensors takes.
void check_all_numbers() {
  const std::vector<std::shared_ptr<torch::jit::Operator>> all = torch::jit::getAllOperators();
  for (const std::shared_ptr<torch::jit::Operator>& known : all) {
    // No shard may use these.
    if (is_given_its_result(known->schema())) continue;
    const std::string name = known->schema().name();
    const NumberArguments arguments = numbers_of(known->schema());
    if (arguments.kinds.empty() && arguments.numbers.empty()) continue;
    const auto is_this = [&](const c10::FunctionSchema& schema) {
      return schema.overload_name() == known->schema().overload_name();
    };
    put_before(name.c_str(), is_this, [name, arguments](const Stack& stack) {
      check_number_arguments(name, arguments, stack);
    });
  }
}

/// Checks that no tensor is had that may be written to without the gradients' knowing, while they
/// are kept: they take what was saved for them, such as indices, as it is.
void check_hidden_writes(const char* name, const IsMeant& is_meant) {
  put_before(name, is_meant, [name](const Stack& /*stack*/) {
    if (!at::GradMode::is_enabled()) return;
    throw std::runtime_error(
        fmt::format("{}: writes to its result could not be seen, which training needs", name));
  });
}

}  // namespace

void check_tensor_operators() {
  for (const char* const seen :
       {"aten::as_strided", "aten::as_strided_copy", "aten::as_strided_scatter"}) {
    check_strides(seen);
  }
  for (const char* const seen : {"aten::view", "aten::view_copy"}) check_seen_type(seen);
  for (const char* const data : {"aten::data", "prim::data"}) {
    check_hidden_writes(data, [](const c10::FunctionSchema&) { return true; });
  }
  check_hidden_writes("aten::view", [](const c10::FunctionSchema& schema) {
    return schema.overload_name() == "dtype";
  });
  check_zero_points("aten::quantize_per_channel");
  check_repeats("aten::repeat_interleave");
  check_selection("aten::index_select");
  check_bins("aten::bincount");
  check_spacing("aten::gradient");
  check_all_numbers();
}

}  // namespace pareto::runtime
