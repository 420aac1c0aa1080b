#include "runtime/archive/pickled_values.h"

namespace pareto::runtime {
namespace {

using Kind = PickledValue::Kind;

/// Places in the arguments of a tensor.
enum : std::size_t { kStoragePlace, kOffsetPlace, kSizesPlace, kStridesPlace, kScalesPlace };
/// Places in a tuple of scales: how they are applied, and what follows if each channel has its own.
enum : std::size_t { kScalePlace = 1, kZeroPointPlace, kAxisPlace };

tl::unexpected<Error> bad_tensor(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "its values have a tensor {}", what);
}

/// Returns whether it is a whole number that counts something.
bool is_count(const PickledValue* value) {
  return value != nullptr && value->kind == Kind::kNumber && value->number >= 0;
}

bool is_of_kind(const PickledValue* value, Kind kind) {
  return value != nullptr && value->kind == kind;
}

Expected<std::int64_t> elements_within_storage(const PickledValues& values,
                                               const PickledValue& arguments) {
  const PickledValue* const storage = values.element(arguments, kStoragePlace);
  const PickledValue* const offset = values.element(arguments, kOffsetPlace);
  const PickledValue* const sizes = values.element(arguments, kSizesPlace);
  const PickledValue* const strides = values.element(arguments, kStridesPlace);
  if (!is_of_kind(storage, Kind::kStorage)) return bad_tensor("without a storage");
  if (!is_count(offset) || !is_of_kind(sizes, Kind::kTuple) || !is_of_kind(strides, Kind::kTuple) ||
      sizes->count != strides->count || sizes->count > kMostDimensions) {
    return bad_tensor("without an offset, or without sizes and as many strides");
  }
  std::int64_t last = offset->number;
  std::int64_t elements = 1;
  bool empty = false;
  bool too_large = false;
  for (std::size_t i = 0; i < sizes->count; ++i) {
    const PickledValue* const size = values.element(*sizes, i);
    const PickledValue* const stride = values.element(*strides, i);
    if (!is_count(size) || !is_count(stride)) {
      return bad_tensor("whose sizes and strides are no whole numbers");
    }
    empty = empty || size->number == 0;
    std::int64_t span = 0;
    too_large = too_large || empty || __builtin_mul_overflow(elements, size->number, &elements) ||
                __builtin_mul_overflow(size->number - 1, stride->number, &span) ||
                __builtin_add_overflow(last, span, &last);
  }
  if (empty) return 0;
  if (too_large || last >= storage->number) return bad_tensor("that is larger than its bytes");
  return elements;
}

/// Checks that each channel has a scale and a zero point, if they have their own.
Expected<> check_channels(const PickledValues& values, const PickledValue& arguments) {
  const PickledValue* const scales = values.element(arguments, kScalesPlace);
  if (!is_of_kind(scales, Kind::kTuple)) return bad_tensor("without scales");
  // LibTorch looks for an axis if channels have their own, and refuses a tuple that is shorter.
  if (scales->count <= kAxisPlace) return {};
  const PickledValue& sizes = *values.element(arguments, kSizesPlace);
  const PickledValue* const axis = values.element(*scales, kAxisPlace);
  if (!is_count(axis) || axis->number >= static_cast<std::int64_t>(sizes.count)) {
    return bad_tensor("of channels along no axis of its own");
  }
  const std::int64_t channels =
      values.element(sizes, static_cast<std::size_t>(axis->number))->number;
  for (const std::size_t place : {kScalePlace, kZeroPointPlace}) {
    const PickledValue* const each = values.element(*scales, place);
    if (!is_of_kind(each, Kind::kTensor) || each->number < channels) {
      return bad_tensor("with fewer scales than channels");
    }
  }
  return {};
}

/// Parts of a packed convolution in its forms.
constexpr std::size_t kPackedParts = 3;
constexpr std::size_t kPackedPartsOfVersion1 = 6;
/// Its settings and its weight.
constexpr std::size_t kPackedTensors = 2;

}  // namespace

PickledValues::Id PickledValues::add(const PickledValue& value) {
  values_.push_back(value);
  return static_cast<Id>(values_.size() - 1);
}

PickledValues::Id PickledValues::add_tuple(PickledValue tuple, std::span<const Id> elements) {
  tuple.kind = Kind::kTuple;
  tuple.first = static_cast<std::uint32_t>(elements_.size());
  tuple.count = static_cast<std::uint32_t>(elements.size());
  elements_.insert(elements_.end(), elements.begin(), elements.end());
  return add(tuple);
}

const PickledValue* PickledValues::element(const PickledValue& tuple, std::size_t index) const {
  if (tuple.kind != Kind::kTuple || index >= tuple.count) return nullptr;
  return &values_[elements_[tuple.first + index]];
}

Expected<std::int64_t> elements_of_tensor(const PickledValues& values,
                                          const PickledValue& arguments, bool quantised) {
  PARETO_ASSIGN(const std::int64_t elements, elements_within_storage(values, arguments));
  if (quantised) PARETO_TRY(check_channels(values, arguments));
  return elements;
}

Expected<> check_packed_convolution(const PickledValues& values, const PickledValue& state) {
  const bool is_first_version = is_of_kind(values.element(state, 0), Kind::kTensor);
  const std::size_t parts = is_first_version ? kPackedPartsOfVersion1 : kPackedParts;
  const PickledValue* const tensors = values.element(state, 1);
  const bool has_tensors =
      is_first_version || (is_of_kind(tensors, Kind::kList) && tensors->count >= kPackedTensors);
  if (values.element(state, parts - 1) != nullptr && has_tensors) return {};
  return fail(ErrorCode::kCorrupt, "its values have a packed convolution that lacks parts");
}

}  // namespace pareto::runtime
