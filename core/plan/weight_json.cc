#include "core/plan/weight_json.h"

#include <optional>

#include "core/base/json_integer.h"

namespace pareto::plan {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxNameBytes = 4096;

/// Returns the shape of a tensor that can be; nothing of any other value.
std::optional<Shape> shape_from(const Json& json) {
  constexpr std::size_t kMaxRank = 64;
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
  if (!json.is_array() || json.size() > kMaxRank) return std::nullopt;
  Shape shape;
  for (const Json& size : json) {
    const auto whole = integer_in<std::int64_t>(size);
    if (!whole) return std::nullopt;
    shape.push_back(*whole);
  }
  const auto elements = element_count(shape);
  return elements && *elements <= kMaxElements ? std::optional(shape) : std::nullopt;
}

}  // namespace

nlohmann::ordered_json to_json(const WeightRef& weight) {
  return {{"name", weight.name},
          {"digest", weight.digest.hex()},
          {"dtype", to_string(weight.dtype)},
          {"shape", weight.shape},
          {"parameter", weight.is_parameter}};
}

Expected<std::string> name_from(const Json& json) {
  if (!json.is_string() || json.get_ref<const std::string&>().size() > kMaxNameBytes) {
    return fail(ErrorCode::kCorrupt, "a name is a string of at most 4096 bytes");
  }
  return json.get<std::string>();
}

Expected<WeightRef> weight_from(const Json& json) {
  WeightRef weight;
  PARETO_ASSIGN(weight.name, name_from(json.at("name")));
  if (weight.name.empty()) return fail(ErrorCode::kCorrupt, "a weight without a name");
  auto digest = parse_digest(json.at("digest").get<std::string>());
  if (!digest)
    return fail(ErrorCode::kCorrupt, "weight {}: {}", weight.name, digest.error().message);
  weight.digest = *digest;
  const auto dtype = dtype_from_string(json.at("dtype").get<std::string>());
  if (!dtype) return fail(ErrorCode::kCorrupt, "weight {}: unknown dtype", weight.name);
  weight.dtype = *dtype;
  const auto shape = shape_from(json.at("shape"));
  if (!shape) return fail(ErrorCode::kCorrupt, "weight {}: impossible shape", weight.name);
  weight.shape = *shape;
  weight.is_parameter = json.at("parameter").get<bool>();
  return weight;
}

}  // namespace pareto::plan
