#include "runtime/archive/pickled_values.h"

namespace pareto::runtime {
namespace {

using Kind = PickledValue::Kind;

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

void PickledValues::extend(PickledValue& list, std::span<const Id> elements) {
  if (list.count == 0) {
    list.first = static_cast<std::uint32_t>(elements_.size());
    list.number = static_cast<std::int64_t>(elements.size());
    elements_.insert(elements_.end(), elements.begin(), elements.end());
  }
  list.count += static_cast<std::uint32_t>(elements.size());
}

const PickledValue* PickledValues::element(const PickledValue& whole, std::size_t index) const {
  std::size_t known = 0;
  switch (whole.kind) {
    case Kind::kTuple:
    case Kind::kTensor:
    case Kind::kStorage:
      known = whole.count;
      break;
    case Kind::kList:
      known = static_cast<std::size_t>(whole.number);
      break;
    default:
      return nullptr;
  }
  return index < known ? &values_[elements_[whole.first + index]] : nullptr;
}

Expected<std::int64_t> elements_of_tensor(const PickledValues& values,
                                          const PickledValue& arguments, bool quantised) {
  PARETO_ASSIGN(const std::int64_t elements, elements_within_storage(values, arguments));
  if (quantised) PARETO_TRY(check_channels(values, arguments));
  return elements;
}

}  // namespace pareto::runtime
