#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/tensor/value_spec.h"

namespace pareto {
namespace {

using Kind = ValueSpec::Kind;

/// splitmix64: the same numbers on every machine, unlike the standard distributions.
struct Generator {
  std::uint64_t state;
  double uniform() {  // in (0, 1)
    state += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return (static_cast<double>(z >> 11) + 0.5) / 9007199254740992.0;
  }
  double normal() {  // Box-Muller
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
};

std::uint16_t to_float16(float value) {
  // Normal noise stays far inside the normal range but for values near zero, which become zero.
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 112;
  if (exponent <= 0) return sign;
  return static_cast<std::uint16_t>(sign | (exponent << 10) | ((bits >> 13) & 0x3ff));
}

template <typename Element, typename Convert>
void fill(std::span<std::byte> bytes, Generator& random, Convert convert) {
  for (std::size_t at = 0; at + sizeof(Element) <= bytes.size(); at += sizeof(Element)) {
    const Element element = convert(random.normal());
    std::memcpy(bytes.data() + at, &element, sizeof element);
  }
}

/// Draws whole numbers evenly from a range. They descend from its highest one, as lengths of
/// sequences often have to.
std::vector<std::int64_t> drawn_evenly(std::size_t elements, const IntegerRange& range,
                                       Generator& random) {
  const double count = static_cast<double>(range.high) - static_cast<double>(range.low) + 1;
  std::vector<std::int64_t> numbers(elements);
  for (std::int64_t& number : numbers) {
    const auto steps = static_cast<std::uint64_t>(std::min(random.uniform() * count, 9e18));
    number = static_cast<std::int64_t>(static_cast<std::uint64_t>(range.low) + steps);
    number = std::clamp(number, range.low, range.high);
  }
  std::ranges::sort(numbers, std::ranges::greater{});
  if (!numbers.empty()) numbers.front() = range.high;
  return numbers;
}

/// Fills a tensor with numbers that its type can hold, again from the first after the last one.
template <typename Element>
void repeat(std::span<std::byte> bytes, const std::vector<std::int64_t>& numbers) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(Element); ++i) {
    const auto element = static_cast<Element>(numbers[i % numbers.size()]);
    std::memcpy(bytes.data() + i * sizeof element, &element, sizeof element);
  }
}

void repeat(DType dtype, std::span<std::byte> bytes, const std::vector<std::int64_t>& numbers) {
  switch (size_of(dtype)) {
    case 1:
      if (dtype == DType::kInt8) return repeat<std::int8_t>(bytes, numbers);
      return repeat<std::uint8_t>(bytes, numbers);
    case 2:
      return repeat<std::int16_t>(bytes, numbers);
    case 4:
      return repeat<std::int32_t>(bytes, numbers);
    default:
      return repeat<std::int64_t>(bytes, numbers);
  }
}

Expected<Tensor> example_tensor(const ValueSpec& value, std::int64_t batch, Generator& random) {
  const TensorSpec& spec = value.tensor;
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(spec.dtype, spec.shape(batch)));
  const auto bytes = tensor.mutable_bytes();
  if (limits_of(spec.dtype) && (value.range || !value.sample.empty())) {
    const std::size_t elements = bytes.size() / size_of(spec.dtype);
    repeat(spec.dtype, bytes,
           value.sample.empty() ? drawn_evenly(elements, *value.range, random) : value.sample);
    return tensor;
  }
  switch (spec.dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      fill<float>(bytes, random, [](double v) { return static_cast<float>(v); });
      break;
    case DType::kFloat64:
    case DType::kComplex128:
      fill<double>(bytes, random, [](double v) { return v; });
      break;
    case DType::kFloat16:
    case DType::kComplex32:
      fill<std::uint16_t>(bytes, random,
                          [](double v) { return to_float16(static_cast<float>(v)); });
      break;
    case DType::kBFloat16:
      fill<std::uint16_t>(bytes, random, [](double v) {
        return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(v)) >>
                                          16);
      });
      break;
    default:
      if (!bytes.empty())
        std::memset(bytes.data(), spec.dtype == DType::kBool ? 1 : 0, bytes.size());
  }
  return tensor;
}

Expected<Value> example(const ValueSpec& spec, std::int64_t batch, Generator& random) {
  if (spec.kind == Kind::kTensor) {
    PARETO_ASSIGN(Tensor tensor, example_tensor(spec, batch, random));
    return Value(std::move(tensor));
  }
  if (spec.kind == Kind::kLeaf) {
    const auto* number = spec.leaf.get_if<std::int64_t>();
    return number == nullptr ? spec.leaf : Value(*number + spec.per_sample * batch);
  }
  std::vector<Value> items;
  for (const ValueSpec& item : spec.items) {
    PARETO_ASSIGN(Value value, example(item, batch, random));
    items.push_back(std::move(value));
  }
  if (spec.kind == Kind::kList) return Value(List{std::move(items)});
  if (spec.kind == Kind::kTuple) return Value(Tuple{std::move(items)});
  Dict dict;
  for (std::size_t i = 0; i < items.size(); ++i) {
    dict.items.emplace_back(spec.keys[i], std::move(items[i]));
  }
  return Value(std::move(dict));
}

}  // namespace

Expected<Value> make_example(const ValueSpec& spec, std::int64_t batch, std::uint64_t seed) {
  Generator random{seed};
  return example(spec, batch, random);
}

}  // namespace pareto
