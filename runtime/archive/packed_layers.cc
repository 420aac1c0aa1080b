#include "runtime/archive/packed_layers.h"

#include <algorithm>
#include <cstdint>

namespace pareto::runtime {
namespace {

using Kind = PickledValue::Kind;

/// A class of convolutions is called so before its dimensions.
constexpr std::string_view kPackedConvolution = "__torch__.torch.classes.quantized.Conv";
constexpr std::string_view kPackedLinear = "__torch__.torch.classes.quantized.Linear";

/// Places in a packed convolution.
enum : std::size_t { kVersionPlace, kTensorsPlace, kBiasPlace, kPackedParts };
/// Places in its tensors.
enum : std::size_t { kSettingsPlace, kWeightPlace };
/// Places in a packed linear layer.
enum : std::size_t { kLinearWeightPlace, kLinearBiasPlace };

/// The class of a storage of float32 numbers, and its place in what a storage is made of.
constexpr std::string_view kFloats = "torch\nFloatStorage";
constexpr std::size_t kClassPlace = 1;

/// Returns how many settings there are: the dimensions; a step, a padding, a distance of taps and a
/// padding of the output for each; the groups, and whether it is transposed.
constexpr std::size_t settings_of(std::size_t dimensions) { return 1 + 4 * dimensions + 2; }

/// Returns a class's name with dots only: a pickle writes a module, and what is in it.
std::string dotted(std::string_view class_name) {
  std::string name(class_name);
  std::ranges::replace(name, '\n', '.');
  return name;
}

tl::unexpected<Error> bad_layer(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "its values have a packed {}", what);
}

bool holds_number(const PickledValue* value, std::int64_t number) {
  return value != nullptr && value->kind == Kind::kNumber && value->number == number;
}

/// Returns the record of a tensor that is all of it, in one row of `elements`; "" for others.
std::string_view whole_record(const PickledValues& values, const PickledValue& tensor,
                              std::size_t elements) {
  if (tensor.kind != Kind::kTensor) return {};
  const PickledValue& storage = *values.element(tensor, kStoragePlace);
  const PickledValue& strides = *values.element(tensor, kStridesPlace);
  const auto count = static_cast<std::int64_t>(elements);
  const bool whole = tensor.number == count && storage.number == count && strides.count == 1 &&
                     holds_number(values.element(strides, 0), 1);
  return whole ? storage.text : std::string_view();
}

/// Returns whether the channels of a weight have scales of their own.
bool has_scales(const PickledValues& values, const PickledValue& weight) {
  const PickledValue* const scales = values.element(weight, kScalesPlace);
  return scales != nullptr && values.element(*scales, kAxisPlace) != nullptr;
}

/// Checks the weight and the bias of a layer; null: there is none. A weight must have elements, and
/// scales for its outputs if for any; a bias must have float32 numbers, one behind the other.
Expected<> check_weights(const PickledValues& values, const PickledValue* weight,
                         const PickledValue* bias) {
  if (weight == nullptr || weight->kind != Kind::kTensor || weight->number == 0) {
    return bad_layer("layer without a weight");
  }
  if (has_scales(values, *weight)) {
    const PickledValue& scales = *values.element(*weight, kScalesPlace);
    if (!holds_number(values.element(scales, kAxisPlace), 0)) {
      return bad_layer("layer whose scales are not those of its outputs");
    }
  }
  if (bias == nullptr || bias->kind == Kind::kNone) return {};
  const bool is_plain =
      bias->kind == Kind::kTensor &&
      values.element(*values.element(*bias, kStoragePlace), kClassPlace)->text == kFloats &&
      values.element(*bias, kStridesPlace)->count == 1 &&
      holds_number(values.element(*values.element(*bias, kStridesPlace), 0), 1);
  if (is_plain) return {};
  return bad_layer("layer whose bias is not of float32 numbers, one behind the other");
}

Expected<> check_convolution(const PickledValues& values, const PickledValue& state,
                             std::size_t dimensions, ConvolutionSettings& settings) {
  const PickledValue* const version = values.element(state, kVersionPlace);
  const PickledValue* const tensors = values.element(state, kTensorsPlace);
  const PickledValue* const bias = values.element(state, kBiasPlace);
  if (state.count != kPackedParts || version == nullptr || version->text != "2" ||
      tensors->kind != Kind::kList || bias->kind != Kind::kList) {
    return bad_layer("layer without its parts since PyTorch 1.6: \"2\", settings and weight, bias");
  }
  const PickledValue* const weight = values.element(*tensors, kWeightPlace);
  PARETO_TRY(check_weights(values, weight, values.element(*bias, 0)));
  const std::string_view record =
      whole_record(values, *values.element(*tensors, kSettingsPlace), settings_of(dimensions));
  const ConvolutionKind kind{dimensions, has_scales(values, *weight)};
  if (record.empty() || settings.emplace(record, kind).first->second != kind) {
    return bad_layer("layer whose settings are no record of their own");
  }
  return {};
}

}  // namespace

Expected<> check_packed_layer(const PickledValues& values, const PickledValue& state,
                              std::string_view class_name, ConvolutionSettings& settings) {
  const std::string name = dotted(class_name);
  if (name.starts_with(kPackedConvolution)) {
    const std::size_t dimensions = name.substr(kPackedConvolution.size()).starts_with('3') ? 3 : 2;
    return check_convolution(values, state, dimensions, settings);
  }
  if (!name.starts_with(kPackedLinear)) return {};
  return check_weights(values, values.element(state, kLinearWeightPlace),
                       values.element(state, kLinearBiasPlace));
}

Expected<> check_convolution_settings(std::string_view record, const ConvolutionKind& kind) {
  if (record.size() < 2 * settings_of(kind.dimensions)) {
    return bad_layer("layer that lacks settings");
  }
  const auto setting = [&](std::size_t index) {
    const auto low = static_cast<unsigned char>(record[2 * index]);
    const auto high = static_cast<unsigned char>(record[2 * index + 1]);
    return static_cast<std::int16_t>(low | high << 8);
  };
  const std::size_t groups = 1 + 4 * kind.dimensions;
  for (std::size_t i = 1; i <= groups; ++i) {
    // Steps are first, distances of taps third.
    const bool is_divisor = i == groups || (i - 1) / kind.dimensions % 2 == 0;
    if (setting(i) < (is_divisor ? 1 : 0)) {
      return fail(ErrorCode::kCorrupt, "its values have a packed layer whose setting {} is {}", i,
                  setting(i));
    }
  }
  const bool transposes = setting(groups + 1) != 0;
  if (transposes && (kind.dimensions == 3 || kind.has_scales)) {
    return bad_layer("transposed layer of three dimensions, or with a scale for each channel");
  }
  return {};
}

}  // namespace pareto::runtime
