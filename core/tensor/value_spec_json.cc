#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_integer.h"
#include "core/tensor/value_spec.h"

namespace pareto {
namespace {

using Json = nlohmann::json;
using Kind = ValueSpec::Kind;

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxItems = 1 << 16;
constexpr std::size_t kMaxRank = 64;

Json leaf_to_json(const Value& leaf) {
  if (leaf.is<Uninitialized>()) return {{"uninitialized", true}};
  if (const auto* v = leaf.get_if<bool>()) return {{"bool", *v}};
  if (const auto* v = leaf.get_if<std::int64_t>()) return {{"int", *v}};
  // Writes the text of its bits: JSON has no infinity, no NaN and no exact doubles in every reader.
  if (const auto* v = leaf.get_if<double>()) return {{"float", fmt::format("{:a}", *v)}};
  if (const auto* v = leaf.get_if<std::string>()) return {{"string", *v}};
  return {{"none", true}};
}

tl::unexpected<Error> bad(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "value spec: {}", what);
}

Expected<Value> leaf_from_json(const Json& json) {
  if (json.contains("uninitialized")) return Value(Uninitialized{});
  if (json.contains("none")) return Value(None{});
  if (json.contains("bool") && json["bool"].is_boolean()) return Value(json["bool"].get<bool>());
  if (json.contains("int")) {
    if (const auto number = integer_in<std::int64_t>(json["int"])) return Value(*number);
    return bad("an int is a whole number of 64 bits");
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

/// Returns two whole numbers; nothing of any other value.
std::optional<std::pair<std::int64_t, std::int64_t>> pair_from(const Json& json) {
  if (!json.is_array() || json.size() != 2) return std::nullopt;
  const auto first = integer_in<std::int64_t>(json[0]);
  const auto second = integer_in<std::int64_t>(json[1]);
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

Expected<IntegerRange> range_from_json(const Json& json, DType dtype) {
  const auto limits = limits_of(dtype);
  const auto pair = pair_from(json);
  if (!pair || !limits) return bad("a range is [low, high] of whole numbers, of integers or bools");
  const IntegerRange range{pair->first, pair->second};
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
    const auto number = integer_in<std::int64_t>(element);
    if (!number || *number < limits->low || *number > limits->high) {
      return bad("a sample's numbers are whole and lie within its type's");
    }
    sample.push_back(*number);
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
    const auto pair = pair_from(dim);
    if (!pair) return bad("a dimension is [constant, per_sample]");
    const SymbolicDim parsed{pair->first, pair->second};
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
    const auto per_sample = integer_in<std::int64_t>(json["per_sample"]);
    if (constant == nullptr || !per_sample || !within(*constant) || !within(*per_sample)) {
      return bad("per_sample belongs to an int; both lie within 2^40");
    }
    spec.per_sample = *per_sample;
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

}  // namespace

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
