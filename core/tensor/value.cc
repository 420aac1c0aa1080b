#include "core/tensor/value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace pareto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Visitor>
void for_each_tensor(const Value& value, Visitor& visit) {
  if (const auto* tensor = value.get_if<Tensor>()) {
    visit(*tensor);
  } else if (const auto* list = value.get_if<List>()) {
    for (const Value& item : list->items) for_each_tensor(item, visit);
  } else if (const auto* tuple = value.get_if<Tuple>()) {
    for (const Value& item : tuple->items) for_each_tensor(item, visit);
  } else if (const auto* dict = value.get_if<Dict>()) {
    for (const auto& [key, item] : dict->items) for_each_tensor(item, visit);
  }
}

bool all_bit_equal(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Value& x, const Value& y) { return bit_equal(x, y); });
}

double from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

double from_float16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) return mantissa != 0 ? std::nan("") : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

/// The largest |a - e| and |e| of two buffers of the same floating type; a complex number counts as
/// two elements.
struct Differences {
  double worst = 0;
  double scale = 0;

  void add(double expected, double actual) {
    if (std::isfinite(expected)) scale = std::max(scale, std::abs(expected));
    const bool same = expected == actual || (std::isnan(expected) && std::isnan(actual));
    if (same) return;
    const bool finite = std::isfinite(expected) && std::isfinite(actual);
    if (!finite) {
      worst = kInfinity;
    } else {
      worst = std::max(worst, std::abs(actual - expected));
    }
  }

  template <typename Bits, typename Convert>
  void add_all(const Tensor& expected, const Tensor& actual, Convert convert) {
    for (std::size_t at = 0; at + sizeof(Bits) <= expected.size_bytes(); at += sizeof(Bits)) {
      Bits e;
      Bits a;
      std::memcpy(&e, expected.bytes().data() + at, sizeof e);
      std::memcpy(&a, actual.bytes().data() + at, sizeof a);
      add(convert(e), convert(a));
    }
  }

  void add_tensor(const Tensor& expected, const Tensor& actual) {
    if (expected.dtype() != actual.dtype() || expected.shape() != actual.shape()) {
      worst = kInfinity;
      return;
    }
    if (expected.layout() != actual.layout()) {
      const auto one = row_major(expected);
      const auto other = row_major(actual);
      if (one && other) return add_tensor(*one, *other);
      worst = kInfinity;
      return;
    }
    switch (expected.dtype()) {
      case DType::kFloat32:
      case DType::kComplex64:
        return add_all<float>(expected, actual, [](float v) { return double{v}; });
      case DType::kFloat64:
      case DType::kComplex128:
        return add_all<double>(expected, actual, [](double v) { return v; });
      case DType::kFloat16:
      case DType::kComplex32:
        return add_all<std::uint16_t>(expected, actual, from_float16);
      case DType::kBFloat16:
        return add_all<std::uint16_t>(expected, actual, from_bfloat16);
      default:
        if (!bit_equal(expected, actual)) worst = kInfinity;
    }
  }
};

bool same_structure(const Value& a, const Value& b) {
  if (a.storage().index() != b.storage().index()) return false;
  const auto all = [](const std::vector<Value>& x, const std::vector<Value>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_structure);
  };
  if (a.is<Tensor>()) return true;
  if (const auto* list = a.get_if<List>()) return all(list->items, b.get_if<List>()->items);
  if (const auto* tuple = a.get_if<Tuple>()) return all(tuple->items, b.get_if<Tuple>()->items);
  if (const auto* dict = a.get_if<Dict>()) {
    const auto& other = b.get_if<Dict>()->items;
    return std::equal(dict->items.begin(), dict->items.end(), other.begin(), other.end(),
                      [](const auto& x, const auto& y) {
                        return bit_equal(x.first, y.first) && same_structure(x.second, y.second);
                      });
  }
  if (const auto* number = a.get_if<double>()) {
    return *number == *b.get_if<double>() || bit_equal(a, b);
  }
  return bit_equal(a, b);
}

struct Describer {
  std::string operator()(None) const { return "None"; }
  std::string operator()(Uninitialized) const { return "uninitialized"; }
  std::string operator()(bool v) const { return v ? "bool true" : "bool false"; }
  std::string operator()(std::int64_t v) const { return fmt::format("int {}", v); }
  std::string operator()(double v) const { return fmt::format("float {}", v); }
  std::string operator()(const std::string& v) const { return fmt::format("string \"{}\"", v); }
  std::string operator()(const Tensor& v) const {
    return fmt::format("Tensor {} {}", to_string(v.shape()), to_string(v.dtype()));
  }
  std::string operator()(const List& v) const { return "[" + all(v.items) + "]"; }
  std::string operator()(const Tuple& v) const { return "(" + all(v.items) + ")"; }
  std::string operator()(const Dict& v) const {
    std::string text;
    for (const auto& [key, item] : v.items) {
      text += (text.empty() ? "" : ", ") + describe(key) + ": " + describe(item);
    }
    return "{" + text + "}";
  }
  static std::string all(const std::vector<Value>& items) {
    std::string text;
    for (const Value& item : items) text += (text.empty() ? "" : ", ") + describe(item);
    return text;
  }
};

}  // namespace

bool bit_equal(const Value& a, const Value& b) {
  if (a.storage().index() != b.storage().index()) return false;
  if (const auto* v = a.get_if<bool>()) return *v == *b.get_if<bool>();
  if (const auto* v = a.get_if<std::int64_t>()) return *v == *b.get_if<std::int64_t>();
  if (const auto* v = a.get_if<double>()) {
    return std::bit_cast<std::uint64_t>(*v) == std::bit_cast<std::uint64_t>(*b.get_if<double>());
  }
  if (const auto* v = a.get_if<std::string>()) return *v == *b.get_if<std::string>();
  if (const auto* v = a.get_if<Tensor>()) return bit_equal(*v, *b.get_if<Tensor>());
  if (const auto* v = a.get_if<List>()) return all_bit_equal(v->items, b.get_if<List>()->items);
  if (const auto* v = a.get_if<Tuple>()) return all_bit_equal(v->items, b.get_if<Tuple>()->items);
  if (const auto* v = a.get_if<Dict>()) {
    const auto& other = b.get_if<Dict>()->items;
    return std::equal(v->items.begin(), v->items.end(), other.begin(), other.end(),
                      [](const auto& x, const auto& y) {
                        return bit_equal(x.first, y.first) && bit_equal(x.second, y.second);
                      });
  }
  return true;  // None, Uninitialized
}

std::vector<const Tensor*> tensors_of(const Value& value) {
  std::vector<const Tensor*> tensors;
  const auto visit = [&](const Tensor& tensor) { tensors.push_back(&tensor); };
  for_each_tensor(value, visit);
  return tensors;
}

std::vector<const Tensor*> tensors_of(const std::vector<Value>& values) {
  std::vector<const Tensor*> tensors;
  const auto visit = [&](const Tensor& tensor) { tensors.push_back(&tensor); };
  for (const Value& value : values) for_each_tensor(value, visit);
  return tensors;
}

std::uint64_t tensor_bytes(const Value& value) {
  std::uint64_t bytes = 0;
  const auto visit = [&](const Tensor& tensor) { bytes += tensor.size_bytes(); };
  for_each_tensor(value, visit);
  return bytes;
}

double relative_error(const Value& expected, const Value& actual) {
  if (!same_structure(expected, actual)) return kInfinity;
  const auto expected_tensors = tensors_of(expected);
  const auto actual_tensors = tensors_of(actual);
  Differences differences;
  for (std::size_t i = 0; i < expected_tensors.size(); ++i) {
    differences.add_tensor(*expected_tensors[i], *actual_tensors[i]);
  }
  if (differences.worst == 0) return 0;
  return differences.scale == 0 ? kInfinity : differences.worst / differences.scale;
}

std::string describe(const Value& value) { return std::visit(Describer{}, value.storage()); }

}  // namespace pareto
