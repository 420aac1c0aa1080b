#include "core/plan/shard.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/base/json_integer.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"
#include "core/plan/bounded_json.h"
#include "core/plan/weight_json.h"

namespace pareto::plan {
namespace {

using Json = nlohmann::json;

constexpr int kShardFormat = 1;
constexpr std::size_t kMaxEntries = 1 << 20;
constexpr std::uint64_t kMaxPackedBytes = std::uint64_t{1} << 48;

tl::unexpected<Error> bad(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "shard manifest: {}", what);
}

Expected<std::string> name_in(const Json& json) {
  return with_context(name_from(json), "shard manifest");
}

Json boundary_json(const std::vector<BoundaryValue>& values) {
  Json list = Json::array();
  for (const BoundaryValue& value : values) {
    list.push_back({{"name", value.name}, {"spec", to_json(value.spec)}});
  }
  return list;
}

Expected<std::vector<BoundaryValue>> boundary_from(const Json& json) {
  if (!json.is_array() || json.size() > kMaxEntries) return bad("a boundary is a list");
  std::vector<BoundaryValue> values;
  for (const Json& entry : json) {
    PARETO_ASSIGN(std::string name, name_in(entry.at("name")));
    PARETO_ASSIGN(ValueSpec spec, value_spec_from_json(entry.at("spec")));
    values.push_back({std::move(name), std::move(spec)});
  }
  return values;
}

Expected<Shard> parse(const Json& json) {
  const int format = json_integer_at<int>(json, "format");
  if (format != kShardFormat) {
    return bad(fmt::format("format {}, this build reads {}", format, kShardFormat));
  }
  Shard shard;
  PARETO_ASSIGN(shard.model, name_in(json.at("model")));
  shard.begin = json_integer_at<std::int64_t>(json, "begin");
  shard.end = json_integer_at<std::int64_t>(json, "end");
  if (shard.begin < 0 || shard.end <= shard.begin) return bad("operators out of order");
  PARETO_ASSIGN(shard.torch_version, name_in(json.at("torch")));
  const Json& weights = json.at("weights");
  const Json& scopes = json.at("scopes");
  if (!weights.is_array() || weights.size() > kMaxEntries) return bad("weights is a list");
  if (!scopes.is_array() || scopes.size() > kMaxEntries) return bad("scopes is a list");
  std::unordered_set<std::string> names;
  for (const Json& entry : weights) {
    PARETO_ASSIGN(WeightRef weight, with_context(weight_from(entry), "shard manifest"));
    if (!names.insert(weight.name).second) return bad("weight " + weight.name + " stands twice");
    shard.weights.push_back(std::move(weight));
  }
  // Shards of earlier versions do not say it.
  shard.packed_bytes = json_integer_at<std::uint64_t>(json, "packed_bytes", 0);
  if (shard.packed_bytes > kMaxPackedBytes) return bad("packed_bytes lies outside 0 ... 2^48");
  for (const Json& entry : scopes) {
    PARETO_ASSIGN(std::string scope, name_in(entry));
    shard.scopes.push_back(std::move(scope));
  }
  PARETO_ASSIGN(shard.inputs, boundary_from(json.at("inputs")));
  PARETO_ASSIGN(shard.outputs, boundary_from(json.at("outputs")));
  return shard;
}

/// Checks that the archive is the one that the manifest was written for.
Expected<> check_digest(const Json& json, const std::string& archive) {
  // Shards of earlier versions do not say it.
  const auto found = json.find("archive_sha256");
  if (found == json.end()) return {};
  const auto digest = parse_digest(found->get<std::string>());
  if (!digest) return bad("archive_sha256 is no digest");
  if (*digest == sha256(archive)) return {};
  return fail(
      ErrorCode::kCorrupt,
      "the shard's archive ({} bytes) is not the one of its manifest: it was changed on its "
      "way",
      archive.size());
}

}  // namespace

std::uint64_t WeightRef::size_bytes() const {
  return static_cast<std::uint64_t>(element_count(shape).value_or(0)) * size_of(dtype);
}

std::uint64_t Shard::weight_bytes() const {
  std::uint64_t bytes = packed_bytes;
  for (const WeightRef& weight : weights) bytes += weight.size_bytes();
  return bytes;
}

Digest Shard::digest() const {
  Hasher hasher;
  hasher.update(manifest_json(*this));
  hasher.update(archive);
  return hasher.finish();
}

std::uint64_t boundary_bytes(const std::vector<BoundaryValue>& values, std::int64_t batch) {
  std::uint64_t bytes = 0;
  for (const BoundaryValue& value : values) bytes += value.spec.size_bytes(batch).value_or(0);
  return bytes;
}

std::uint64_t loading_bytes(const Shard& shard, std::int64_t batch) {
  return kWeightCopies * shard.weight_bytes() + shard.archive.size() +
         kBoundaryCopies *
             (boundary_bytes(shard.inputs, batch) + boundary_bytes(shard.outputs, batch));
}

Expected<std::vector<Value>> make_examples(const std::vector<BoundaryValue>& values,
                                           std::int64_t batch, std::uint64_t seed) {
  std::vector<Value> examples;
  for (const BoundaryValue& value : values) {
    PARETO_ASSIGN(Value example, make_example(value.spec, batch, seed));
    examples.push_back(std::move(example));
  }
  return examples;
}

std::string manifest_json(const Shard& shard) {
  nlohmann::ordered_json json{{"format", kShardFormat},
                              {"model", shard.model},
                              {"begin", shard.begin},
                              {"end", shard.end},
                              {"torch", shard.torch_version}};
  json["weights"] = nlohmann::ordered_json::array();
  for (const WeightRef& weight : shard.weights) {
    json["weights"].push_back(to_json(weight));
  }
  if (shard.packed_bytes > 0) json["packed_bytes"] = shard.packed_bytes;
  json["inputs"] = boundary_json(shard.inputs);
  json["outputs"] = boundary_json(shard.outputs);
  json["scopes"] = shard.scopes;
  json["archive_sha256"] = sha256(shard.archive).hex();
  return dump(json);
}

Expected<Shard> shard_from_manifest(const std::string& text, std::string archive) {
  try {
    PARETO_ASSIGN(const Json json, with_context(parse_bounded<Json>(text), "shard manifest"));
    PARETO_ASSIGN(Shard shard, parse(json));
    PARETO_TRY(check_digest(json, archive));
    shard.archive = std::move(archive);
    return shard;
  } catch (const nlohmann::json::exception& error) {
    return bad(json_reason(error));
  }
}

}  // namespace pareto::plan
