#include "core/tensor/value_spec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

namespace pareto {
namespace {

using Json = nlohmann::json;
using Kind = ValueSpec::Kind;

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxItems = 1 << 16;
constexpr std::size_t kMaxRank = 64;

ValueSpec container(Kind kind, const std::vector<Value>& items);

ValueSpec spec_of_tensor(const Tensor& tensor) {
  ValueSpec spec;
  spec.kind = Kind::kTensor;
  spec.tensor.dtype = tensor.dtype();
  for (const std::int64_t size : tensor.shape()) spec.tensor.dims.push_back({size, 0});
  return spec;
}

ValueSpec container(Kind kind, const std::vector<Value>& items) {
  ValueSpec spec;
  spec.kind = kind;
  for (const Value& item : items) spec.items.push_back(spec_of(item));
  return spec;
}

/// Joins two constant sizes seen at two batches to one linear function.
Expected<SymbolicDim> join_dim(std::int64_t a, std::int64_t batch_a, std::int64_t b,
                               std::int64_t batch_b) {
  if (a == b) return SymbolicDim{a, 0};
  const std::int64_t slope = batch_a == batch_b ? 0 : (b - a) / (batch_b - batch_a);
  const std::int64_t constant = a - slope * batch_a;
  if (slope <= 0 || constant < 0 || constant + slope * batch_b != b) {
    return fail(ErrorCode::kInvalidArgument,
                "a dimension of {} at batch {} and {} at batch {} does not grow with the batch", a,
                batch_a, b, batch_b);
  }
  return SymbolicDim{constant, slope};
}

/// An int that differs between two batches is most often a size: the batch itself, or a multiple.
void join_leaf(const ValueSpec& a, std::int64_t batch_a, const ValueSpec& b, std::int64_t batch_b,
               ValueSpec& joined) {
  const auto* first = a.leaf.get_if<std::int64_t>();
  const auto* second = b.leaf.get_if<std::int64_t>();
  if (first == nullptr || second == nullptr || batch_a == batch_b) return;
  const std::int64_t slope = (*second - *first) / (batch_b - batch_a);
  if (*first + slope * (batch_b - batch_a) != *second) return;
  joined.per_sample = slope;
  joined.leaf = *first - slope * batch_a;
}

Expected<ValueSpec> join(const ValueSpec& a, std::int64_t batch_a, const ValueSpec& b,
                         std::int64_t batch_b) {
  const bool same = a.kind == b.kind && a.items.size() == b.items.size() &&
                    a.tensor.dtype == b.tensor.dtype &&
                    a.tensor.dims.size() == b.tensor.dims.size();
  if (!same) {
    return fail(ErrorCode::kInvalidArgument, "{} at batch {} is {} at batch {}", a.describe(),
                batch_a, b.describe(), batch_b);
  }
  ValueSpec joined = a;
  if (a.kind == Kind::kLeaf) join_leaf(a, batch_a, b, batch_b, joined);
  for (std::size_t i = 0; i < a.tensor.dims.size(); ++i) {
    PARETO_ASSIGN(joined.tensor.dims[i],
                  join_dim(a.tensor.dims[i].constant, batch_a, b.tensor.dims[i].constant, batch_b));
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    PARETO_ASSIGN(joined.items[i], join(a.items[i], batch_a, b.items[i], batch_b));
  }
  return joined;
}

std::string describe_dim(const SymbolicDim& dim) {
  if (dim.per_sample == 0) return std::to_string(dim.constant);
  const std::string batch = dim.per_sample == 1 ? "B" : fmt::format("{}B", dim.per_sample);
  return dim.constant == 0 ? batch : fmt::format("{}+{}", batch, dim.constant);
}

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

Json leaf_to_json(const Value& leaf) {
  if (leaf.is<Uninitialized>()) return {{"uninitialized", true}};
  if (const auto* v = leaf.get_if<bool>()) return {{"bool", *v}};
  if (const auto* v = leaf.get_if<std::int64_t>()) return {{"int", *v}};
  // As text of its bits: JSON has no infinity, no NaN and no exact doubles in every reader.
  if (const auto* v = leaf.get_if<double>()) return {{"float", fmt::format("{:a}", *v)}};
  if (const auto* v = leaf.get_if<std::string>()) return {{"string", *v}};
  return {{"none", true}};
}

tl::unexpected<Error> bad(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "value spec: {}", what);
}

bool is_beyond_int64(const Json& number) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return number.is_number_unsigned() && number.get<std::uint64_t>() > kMost;
}

Expected<Value> leaf_from_json(const Json& json) {
  if (json.contains("uninitialized")) return Value(Uninitialized{});
  if (json.contains("none")) return Value(None{});
  if (json.contains("bool") && json["bool"].is_boolean()) return Value(json["bool"].get<bool>());
  if (json.contains("int") && json["int"].is_number_integer()) {
    return Value(json["int"].get<std::int64_t>());
  }
  if (json.contains("string") && json["string"].is_string()) {
    return Value(json["string"].get<std::string>());
  }
  if (json.contains("float") && json["float"].is_string()) {
    const auto& text = json["float"].get_ref<const std::string&>();
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0') return Value(number);
  }
  return bad("a leaf is none, uninitialized, bool, int, float or string");
}

Expected<IntegerRange> range_from_json(const Json& json, DType dtype) {
  const auto limits = limits_of(dtype);
  const bool pair = json.is_array() && json.size() == 2 && json[0].is_number_integer() &&
                    json[1].is_number_integer() && !is_beyond_int64(json[0]) &&
                    !is_beyond_int64(json[1]);
  if (!pair || !limits) return bad("a range is [low, high] of whole numbers, of integers or bools");
  const IntegerRange range{json[0].get<std::int64_t>(), json[1].get<std::int64_t>()};
  if (range.low > range.high || range.low < limits->low || range.high > limits->high) {
    return bad("a range ascends and lies within its type's");
  }
  return range;
}

Expected<std::vector<std::int64_t>> sample_from_json(const Json& json, DType dtype) {
  const auto limits = limits_of(dtype);
  if (!limits || !json.is_array() || json.size() > kMostSampled) {
    return bad("a sample is a list of at most 1024 whole numbers, of integers or bools");
  }
  std::vector<std::int64_t> sample;
  for (const Json& element : json) {
    const bool is_whole = element.is_number_integer() && !is_beyond_int64(element);
    const std::int64_t number = is_whole ? element.get<std::int64_t>() : 0;
    if (!is_whole || number < limits->low || number > limits->high) {
      return bad("a sample's numbers are whole and lie within its type's");
    }
    sample.push_back(number);
  }
  return sample;
}

Expected<ValueSpec> tensor_from_json(const Json& json) {
  ValueSpec spec;
  spec.kind = Kind::kTensor;
  if (!json["tensor"].is_string()) return bad("a tensor's dtype is a string");
  const auto dtype = dtype_from_string(json["tensor"].get_ref<const std::string&>());
  if (!dtype) return bad(fmt::format("unknown dtype \"{}\"", json["tensor"].get<std::string>()));
  spec.tensor.dtype = *dtype;
  // Not copied: how deep it is nested is not known yet.
  const auto dims = json.find("dims");
  if (dims == json.end() || !dims->is_array() || dims->size() > kMaxRank) {
    return bad("dims is a list of at most 64");
  }
  for (const Json& dim : *dims) {
    const bool pair = dim.is_array() && dim.size() == 2 && dim[0].is_number_integer() &&
                      dim[1].is_number_integer();
    if (!pair) return bad("a dimension is [constant, per_sample]");
    const SymbolicDim parsed{dim[0].get<std::int64_t>(), dim[1].get<std::int64_t>()};
    constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;
    if (parsed.constant < 0 || parsed.per_sample < 0 || parsed.constant > kMaxSize ||
        parsed.per_sample > kMaxSize) {
      return bad("a dimension lies outside 0 ... 2^40");
    }
    spec.tensor.dims.push_back(parsed);
  }
  if (json.contains("range")) {
    PARETO_ASSIGN(spec.range, range_from_json(json["range"], *dtype));
  }
  if (json.contains("sample")) {
    PARETO_ASSIGN(spec.sample, sample_from_json(json["sample"], *dtype));
  }
  return spec;
}

Expected<ValueSpec> from_json(const Json& json, int depth) {
  if (depth > kMaxDepth) return bad("nested deeper than 32");
  if (!json.is_object()) return bad("not an object");
  if (json.contains("tensor")) return tensor_from_json(json);
  ValueSpec spec;
  const char* key = json.contains("list")    ? "list"
                    : json.contains("tuple") ? "tuple"
                    : json.contains("dict")  ? "dict"
                                             : nullptr;
  if (key == nullptr) {
    PARETO_ASSIGN(spec.leaf, leaf_from_json(json));
    if (!json.contains("per_sample")) return spec;
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    const auto within = [](std::int64_t v) { return v >= -kMost && v <= kMost; };
    const auto* constant = spec.leaf.get_if<std::int64_t>();
    const Json& per_sample = json["per_sample"];
    if (constant == nullptr || !per_sample.is_number_integer() || !within(*constant) ||
        !within(per_sample.get<std::int64_t>())) {
      return bad("per_sample belongs to an int; both lie within 2^40");
    }
    spec.per_sample = per_sample.get<std::int64_t>();
    return spec;
  }
  spec.kind = key[0] == 'l' ? Kind::kList : key[0] == 't' ? Kind::kTuple : Kind::kDict;
  const Json& items = json[key];
  if (!items.is_array() || items.size() > kMaxItems)
    return bad("a container is a list of at most 65536");
  for (const Json& item : items) {
    if (spec.kind != Kind::kDict) {
      PARETO_ASSIGN(ValueSpec child, from_json(item, depth + 1));
      spec.items.push_back(std::move(child));
      continue;
    }
    if (!item.is_array() || item.size() != 2 || !item[0].is_object())
      return bad("a dict entry is [key, value]");
    PARETO_ASSIGN(Value name, leaf_from_json(item[0]));
    PARETO_ASSIGN(ValueSpec child, from_json(item[1], depth + 1));
    spec.keys.push_back(std::move(name));
    spec.items.push_back(std::move(child));
  }
  return spec;
}

void collect_tensors(const ValueSpec& spec, std::vector<TensorSpec>& out) {
  if (spec.kind == Kind::kTensor) out.push_back(spec.tensor);
  for (const ValueSpec& item : spec.items) collect_tensors(item, out);
}

}  // namespace

std::optional<IntegerRange> limits_of(DType dtype) {
  const auto of = []<typename Element>(Element) {
    return IntegerRange{std::numeric_limits<Element>::min(), std::numeric_limits<Element>::max()};
  };
  switch (dtype) {
    case DType::kUInt8:
      return of(std::uint8_t{});
    case DType::kInt8:
      return of(std::int8_t{});
    case DType::kInt16:
      return of(std::int16_t{});
    case DType::kInt32:
      return of(std::int32_t{});
    case DType::kInt64:
      return of(std::int64_t{});
    case DType::kBool:
      return IntegerRange{0, 1};
    default:
      return std::nullopt;
  }
}

Shape TensorSpec::shape(std::int64_t batch) const {
  Shape shape;
  for (const SymbolicDim& dim : dims) shape.push_back(dim.at(batch));
  return shape;
}

Expected<std::uint64_t> TensorSpec::size_bytes(std::int64_t batch) const {
  PARETO_ASSIGN(const std::int64_t elements, element_count(shape(batch)));
  return static_cast<std::uint64_t>(elements) * size_of(dtype);
}

Expected<std::uint64_t> ValueSpec::size_bytes(std::int64_t batch) const {
  std::uint64_t bytes = 0;
  for (const TensorSpec& spec : tensors_of(*this)) {
    PARETO_ASSIGN(const std::uint64_t one, spec.size_bytes(batch));
    bytes += one;
  }
  return bytes;
}

std::string ValueSpec::describe() const {
  switch (kind) {
    case Kind::kTensor: {
      std::vector<std::string> sizes;
      for (const SymbolicDim& dim : tensor.dims) sizes.push_back(describe_dim(dim));
      return fmt::format("{}[{}]", pareto::to_string(tensor.dtype), fmt::join(sizes, "x"));
    }
    case Kind::kLeaf:
      if (leaf.is<None>()) return "None";
      if (leaf.is<Uninitialized>()) return "uninitialized";
      if (leaf.is<bool>()) return "bool";
      if (leaf.is<std::int64_t>()) return "int";
      if (leaf.is<double>()) return "float";
      return "string";
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
      break;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    parts.push_back(kind == Kind::kDict ? pareto::describe(keys[i]) + ": " + items[i].describe()
                                        : items[i].describe());
  }
  const std::string_view name = kind == Kind::kList    ? "List"
                                : kind == Kind::kTuple ? "Tuple"
                                                       : "Dict";
  return fmt::format("{}[{}]", name, fmt::join(parts, ", "));
}

std::vector<TensorSpec> tensors_of(const ValueSpec& spec) {
  std::vector<TensorSpec> tensors;
  collect_tensors(spec, tensors);
  return tensors;
}

ValueSpec spec_of(const Value& value) {
  if (const auto* tensor = value.get_if<Tensor>()) return spec_of_tensor(*tensor);
  if (const auto* list = value.get_if<List>()) return container(Kind::kList, list->items);
  if (const auto* tuple = value.get_if<Tuple>()) return container(Kind::kTuple, tuple->items);
  ValueSpec spec;
  if (const auto* dict = value.get_if<Dict>()) {
    spec.kind = Kind::kDict;
    for (const auto& [key, item] : dict->items) {
      spec.keys.push_back(key);
      spec.items.push_back(spec_of(item));
    }
    return spec;
  }
  spec.leaf = value;
  return spec;
}

Expected<ValueSpec> join_specs(const Value& at_first, std::int64_t first_batch,
                               const Value& at_second, std::int64_t second_batch) {
  return join(spec_of(at_first), first_batch, spec_of(at_second), second_batch);
}

Expected<Value> make_example(const ValueSpec& spec, std::int64_t batch, std::uint64_t seed) {
  Generator random{seed};
  return example(spec, batch, random);
}

Json to_json(const ValueSpec& spec) {
  if (spec.kind == Kind::kLeaf) {
    Json leaf = leaf_to_json(spec.leaf);
    if (spec.per_sample != 0) leaf["per_sample"] = spec.per_sample;
    return leaf;
  }
  Json list = Json::array();
  if (spec.kind == Kind::kTensor) {
    for (const SymbolicDim& dim : spec.tensor.dims) list.push_back({dim.constant, dim.per_sample});
    Json json{{"tensor", to_string(spec.tensor.dtype)}, {"dims", list}};
    if (spec.range) json["range"] = {spec.range->low, spec.range->high};
    if (!spec.sample.empty()) json["sample"] = spec.sample;
    return json;
  }
  for (std::size_t i = 0; i < spec.items.size(); ++i) {
    const Json item = to_json(spec.items[i]);
    list.push_back(spec.kind == Kind::kDict ? Json::array({leaf_to_json(spec.keys[i]), item})
                                            : item);
  }
  return {{spec.kind == Kind::kList ? "list" : spec.kind == Kind::kTuple ? "tuple" : "dict", list}};
}

Expected<ValueSpec> value_spec_from_json(const Json& json) { return from_json(json, 0); }

}  // namespace pareto
