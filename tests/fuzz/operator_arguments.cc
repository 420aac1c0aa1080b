#include "tests/fuzz/operator_arguments.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/jit_type.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "tests/fuzz/operator_examples.h"

namespace pareto::fuzz {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::array kFloats{at::kFloat,  at::kFloat, at::kFloat,
                             at::kDouble, at::kHalf,  at::kBFloat16};
constexpr std::array kWhole{at::kLong, at::kLong,  at::kInt, at::kByte,
                            at::kChar, at::kShort, at::kBool};
constexpr std::array kComplex{at::kComplexFloat, at::kComplexDouble};
constexpr std::array kFewBits{at::kQInt8, at::kQUInt8, at::kQInt32};
constexpr std::array<std::int64_t, 10> kSizes{1, 2, 3, 4, 4, 5, 6, 8, 8, 16};
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::array<std::int64_t, 16> kOddNumbers{kMost,
                                                   -kMost - 1,
                                                   std::int64_t{1} << 62,
                                                   -(std::int64_t{1} << 62),
                                                   std::int64_t{1} << 40,
                                                   -(std::int64_t{1} << 40),
                                                   std::int64_t{1} << 32,
                                                   (std::int64_t{1} << 31) - 1,
                                                   -(std::int64_t{1} << 31),
                                                   1 << 16,
                                                   1000,
                                                   255,
                                                   -100,
                                                   17,
                                                   -7,
                                                   -3};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array kOddReals{
    0.0,    -0.0,      -1.0,       1e-30,
    -1e-30, 1e30,      -1e30,      1e300,
    1e-300, 0.1,       255.0,      1e5,
    2e9,    kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
constexpr std::array<std::string_view, 24> kTexts{
    "mean",    "sum",     "none",  "constant", "reflect", "replicate", "circular",       "bilinear",
    "nearest", "bicubic", "zeros", "border",   "ij",      "xy",        "floor",          "trunc",
    "same",    "valid",   "tanh",  "left",     "linear",  "ij,jk->ik", "...i,...i->...", "relu"};

/// Holds what the arguments of one call have in common.
struct Common {
  at::ScalarType dtype = at::kFloat;
  Sizes sizes;
  bool has_gradients = false;
};

at::ScalarType any_dtype(Choices& choices) {
  const std::size_t kind = choices.below(100);
  if (kind < 55) return choices.of(kFloats);
  if (kind < 75) return choices.of(kWhole);
  if (kind < 80) return choices.of(kComplex);
  return choices.of(kFewBits);
}

std::int64_t any_size(Choices& choices) { return choices.with_percent(4) ? 0 : choices.of(kSizes); }

Sizes any_sizes(Choices& choices) {
  constexpr std::array<std::size_t, 10> kRanks{0, 1, 1, 2, 2, 3, 3, 4, 4, 5};
  Sizes sizes(choices.of(kRanks));
  for (std::int64_t& size : sizes) size = any_size(choices);
  return sizes;
}

/// Returns sizes that an argument of a call with these may have.
Sizes related_sizes(const Sizes& common, Choices& choices) {
  Sizes sizes = common;
  const std::size_t way = choices.below(100);
  if (way < 50) return sizes;
  if (way < 60) return any_sizes(choices);
  if (sizes.empty()) return {any_size(choices)};
  const std::size_t at = choices.below(sizes.size());
  if (way < 70) {
    sizes[at] = any_size(choices);
  } else if (way < 78) {  // a vector along one of them, as biases are
    sizes = {sizes[at]};
  } else if (way < 84) {
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
  } else if (way < 90) {  // as a layer's weight is: outputs, inputs, window
    sizes[0] = any_size(choices);
    for (std::size_t i = 2; i < sizes.size(); ++i) sizes[i] = 1 + std::ssize(sizes) % 3;
  } else if (way < 95) {
    sizes[at] = 1;
  } else {
    sizes.push_back(any_size(choices));
  }
  return sizes;
}

std::int64_t any_number(Choices& choices) {
  const std::size_t way = choices.below(100);
  if (way < 65) return static_cast<std::int64_t>(choices.below(6)) - 1;
  if (way < 78) return choices.of(kSizes);
  return choices.of(kOddNumbers);
}

double any_real(Choices& choices) {
  if (choices.with_percent(25)) return choices.of(kOddReals);
  return static_cast<double>(choices.below(1000)) / 500;
}

at::Tensor numbers_of(at::ScalarType dtype, const Sizes& sizes, Choices& choices) {
  const auto options = at::TensorOptions(at::kFloat);
  at::Tensor values = at::empty(sizes, options);
  const std::size_t way = choices.below(100);
  float* const data = values.data_ptr<float>();
  const bool is_whole = c10::isIntegralType(dtype, /*includeBool=*/true);
  if (is_whole && way >= 85) {
    at::Tensor odd = at::empty(sizes, at::kLong);
    std::int64_t* const wide = odd.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < odd.numel(); ++i) wide[i] = any_number(choices);
    return odd.to(dtype);
  }
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    if (is_whole) {
      data[i] = static_cast<float>(choices.below(way < 60 ? 4 : 2));
    } else {
      data[i] = way < 85 ? static_cast<float>(choices.below(2000)) / 1000 - 1
                         : static_cast<float>(choices.of(kOddReals));
    }
  }
  return values.to(dtype);
}

at::Tensor few_bits(at::ScalarType dtype, const Sizes& sizes, Choices& choices) {
  const at::Tensor values = numbers_of(at::kFloat, sizes, choices);
  const double scale = choices.with_percent(85) ? 0.05 : std::abs(any_real(choices));
  if (!sizes.empty() && choices.with_percent(20)) {
    const auto axis =
        static_cast<std::int64_t>(choices.below(std::min<std::size_t>(2, sizes.size())));
    const std::int64_t count = sizes[static_cast<std::size_t>(axis)];
    return at::quantize_per_channel(values, at::full({count}, scale, at::kDouble),
                                    at::zeros({count}, at::kLong), axis, dtype);
  }
  return at::quantize_per_tensor(values, scale, choices.with_percent(70) ? 0 : 3, dtype);
}

/// Returns the tensor with its numbers somewhere else in memory.
at::Tensor laid_out(const at::Tensor& tensor, Choices& choices) {
  const std::size_t way = choices.below(100);
  const std::int64_t rank = tensor.dim();
  if (way < 70 || rank == 0 || tensor.is_quantized()) {
    return tensor.is_quantized() && rank == 4 && way >= 85 &&
                   tensor.qscheme() == at::kPerTensorAffine
               ? tensor.contiguous(at::MemoryFormat::ChannelsLast)
               : tensor;
  }
  const auto at = static_cast<std::int64_t>(choices.below(static_cast<std::size_t>(rank)));
  if (way < 78) return tensor.transpose(at, rank - 1).contiguous().transpose(at, rank - 1);
  if (way < 84)
    return tensor.narrow(at, 0, std::min<std::int64_t>(1, tensor.size(at))).expand(tensor.sizes());
  if (way < 90) return at::cat({tensor, tensor}, at).narrow(at, tensor.size(at), tensor.size(at));
  if (way < 95 && rank == 4) return tensor.contiguous(at::MemoryFormat::ChannelsLast);
  return at::repeat_interleave(tensor, 2, at).slice(at, 0, c10::nullopt, 2);
}

at::Tensor any_tensor(const Common& common, const std::string& name, Choices& choices) {
  const bool is_index = name.find("ind") != std::string::npos || name == "target" ||
                        name == "offsets" || name.ends_with("lengths");
  const at::ScalarType dtype = is_index && choices.with_percent(80)     ? at::kLong
                               : name.find("mask") != std::string::npos ? at::kBool
                               : choices.with_percent(80)               ? common.dtype
                                                                        : any_dtype(choices);
  const Sizes sizes = related_sizes(common.sizes, choices);
  if (c10::isQIntType(dtype)) return laid_out(few_bits(dtype, sizes, choices), choices);
  at::Tensor made = laid_out(numbers_of(dtype, sizes, choices), choices);
  if (common.has_gradients && made.is_floating_point()) made.requires_grad_();
  return made;
}

std::int64_t number_called(const std::string& name, const Common& common, Choices& choices) {
  if (choices.with_percent(20)) return any_number(choices);
  const auto rank = static_cast<std::int64_t>(common.sizes.size());
  if (name.starts_with("dim") || name == "axis") {
    return static_cast<std::int64_t>(choices.below(static_cast<std::size_t>(2 * rank + 1))) - rank;
  }
  if (name == "groups") return choices.with_percent(70) ? 1 : 2;
  if (name == "dtype") return static_cast<std::int64_t>(choices.below(18));
  if (name == "layout" || name == "memory_format") {
    return static_cast<std::int64_t>(choices.below(4));
  }
  return any_number(choices);
}

c10::IValue numbers_called(const std::string& name, const Common& common, Choices& choices) {
  const std::size_t rank = common.sizes.size();
  const bool is_window = name.find("size") != std::string::npos || name == "stride" ||
                         name == "padding" || name == "dilation";
  Sizes numbers =
      choices.with_percent(20)
          ? common.sizes
          : Sizes(choices.with_percent(60) && rank > 2 ? rank - 2 : choices.below(rank + 2));
  if (choices.with_percent(80) || !is_window) {
    for (std::int64_t& number : numbers) {
      number = is_window && choices.with_percent(80)
                   ? static_cast<std::int64_t>(name == "padding" ? choices.below(2)
                                                                 : 1 + choices.below(3))
                   : number_called(name, common, choices);
    }
  }
  return c10::IValue(numbers);
}

/// Returns what an operator that packs weights makes of them.
std::optional<c10::IValue> packed(const std::string& kind, const Common& common, Choices& choices) {
  const bool is_linear = kind.starts_with("Linear");
  const std::size_t spatial = kind.starts_with("Conv3d") ? 3 : 2;
  if (!is_linear && !kind.starts_with("Conv")) return std::nullopt;
  const std::int64_t inputs = common.sizes.empty() ? 4
                              : is_linear          ? common.sizes.back()
                                                   : common.sizes[common.sizes.size() > 1];
  const std::int64_t outputs = choices.of(kSizes);
  Sizes sizes{outputs, choices.with_percent(85) ? inputs : any_size(choices)};
  if (!is_linear) {
    for (std::size_t i = 0; i < spatial; ++i)
      sizes.push_back(choices.of(std::array<std::int64_t, 3>{1, 2, 3}));
  }
  torch::jit::Stack stack{
      few_bits(at::kQInt8, sizes, choices),
      choices.with_percent(50) ? c10::IValue() : c10::IValue(at::rand({outputs}))};
  const bool transposes = !is_linear && choices.with_percent(30);
  if (!is_linear) {
    const auto list = [&](std::int64_t least, std::size_t most) {
      return c10::IValue(Sizes(spatial, least + static_cast<std::int64_t>(choices.below(most))));
    };
    stack.push_back(list(1, 2));
    stack.push_back(list(0, 2));
    if (transposes) stack.push_back(list(0, 1));
    stack.push_back(list(1, 2));
    stack.emplace_back(std::int64_t{1});
  }
  const std::string name = is_linear ? "quantized::linear_prepack"
                                     : fmt::format("quantized::conv{}{}d_prepack",
                                                   transposes ? "_transpose" : "", spatial);
  for (const auto& known : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
    known->getOperation()(stack);
    return stack.at(0);
  }
  return std::nullopt;
}

class ArgumentMaker {
 public:
  ArgumentMaker(std::uint64_t seed, std::string_view library,
                const std::vector<c10::IValue>& example) {
    common_.has_gradients = !c10::InferenceMode::is_enabled();
    for (const c10::IValue& value : example) {
      if (seed != 0 || !value.isTensor()) continue;
      common_.dtype = value.toTensor().scalar_type();
      common_.sizes = value.toTensor().sizes().vec();
      return;
    }
    Choices choices(seed);
    common_.dtype = library == "quantized" && choices.with_percent(85) ? choices.of(kFewBits)
                                                                       : any_dtype(choices);
    common_.sizes = any_sizes(choices);
  }

  std::optional<c10::IValue> make(const c10::TypePtr& type, const std::string& name,
                                  Choices& choices) const {
    switch (type->kind()) {
      case c10::TypeKind::OptionalType:
        if (choices.with_percent(40)) return c10::IValue();
        return make(type->expectRef<c10::OptionalType>().getElementType(), name, choices);
      case c10::TypeKind::TensorType:
        return any_tensor(common_, name, choices);
      case c10::TypeKind::IntType:
        return number_called(name, common_, choices);
      case c10::TypeKind::FloatType:
        return any_real(choices);
      case c10::TypeKind::BoolType:
        return choices.with_percent(50);
      case c10::TypeKind::NumberType:
        if (choices.with_percent(50)) return any_number(choices);
        return any_real(choices);
      case c10::TypeKind::ComplexType:
        return c10::complex<double>(any_real(choices), any_real(choices));
      case c10::TypeKind::StringType:
        return std::string(choices.of(kTexts));
      case c10::TypeKind::DeviceObjType:
        return c10::Device(c10::DeviceType::CPU);
      case c10::TypeKind::ListType:
        return make_list(type->expectRef<c10::ListType>().getElementType(), name, choices);
      case c10::TypeKind::ClassType:
        return packed(type->expectRef<c10::ClassType>().name()->name(), common_, choices);
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<c10::IValue> make_list(const c10::TypePtr& element, const std::string& name,
                                       Choices& choices) const {
    if (element->kind() == c10::TypeKind::IntType) return numbers_called(name, common_, choices);
    c10::impl::GenericList list(element);
    for (std::size_t count = choices.below(5); count > 0; --count) {
      auto value = make(element, name, choices);
      if (!value) return std::nullopt;
      list.push_back(std::move(*value));
    }
    return c10::IValue(std::move(list));
  }

  Common common_;
};

}  // namespace

std::uint64_t Choices::any() {
  // splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
  std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

std::optional<std::vector<c10::IValue>> make_arguments(const c10::FunctionSchema& schema,
                                                       const Seeds& seeds) {
  const std::string& name = schema.name();
  const std::vector<c10::IValue> example = example_of(schema).value_or(std::vector<c10::IValue>());
  const ArgumentMaker maker(seeds.at(0), std::string_view(name).substr(0, name.find("::")),
                            example);
  std::vector<c10::IValue> made;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (seeds.at(i + 1) == 0 && i < example.size()) {
      made.push_back(example[i]);
      continue;
    }
    Choices choices(seeds.at(i + 1));
    if (argument.default_value() && choices.with_percent(50)) {
      made.push_back(*argument.default_value());
      continue;
    }
    auto value = maker.make(argument.type(), argument.name(), choices);
    if (!value) return std::nullopt;
    made.push_back(std::move(*value));
  }
  return made;
}

std::string to_text(const c10::FunctionSchema& schema, const std::vector<c10::IValue>& arguments) {
  std::string text;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::IValue& value = arguments[i];
    text += fmt::format("  {}: ", schema.arguments()[i].name());
    if (value.isTensor() && value.toTensor().defined()) {
      const at::Tensor& tensor = value.toTensor();
      text += fmt::format("{} [{}] strides [{}]", c10::toString(tensor.scalar_type()),
                          fmt::join(tensor.sizes(), ", "), fmt::join(tensor.strides(), ", "));
      if (tensor.is_quantized() && tensor.qscheme() == at::kPerTensorAffine) {
        text += fmt::format(" scale {} zero {}", tensor.q_scale(), tensor.q_zero_point());
      }
    } else if (value.isObject() || value.isTensorList()) {
      text += value.tagKind();
    } else {
      std::ostringstream out;
      out << value;
      text += out.str();
    }
    text += '\n';
  }
  return text;
}

}  // namespace pareto::fuzz
