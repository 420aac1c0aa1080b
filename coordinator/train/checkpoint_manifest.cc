#include "coordinator/train/checkpoint_manifest.h"

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "coordinator/train/training_json.h"
#include "core/base/json_integer.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"

namespace pareto::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKind = "pareto-edge training checkpoint";
constexpr int kVersion = 1;
constexpr std::size_t kMostTensors = 1'000'000;
constexpr std::size_t kMostRank = 64;

Json entry_json(const TensorEntry& entry) {
  return {{"name", entry.name},
          {"dtype", std::string(pareto::to_string(entry.dtype))},
          {"shape", entry.shape},
          {"sha256", entry.digest.hex()}};
}

Expected<TensorEntry> entry_from(const Json& json) {
  TensorEntry entry;
  entry.name = json.at("name").get<std::string>();
  const auto dtype = dtype_from_string(json.at("dtype").get<std::string>());
  if (!dtype) {
    return fail(ErrorCode::kCorrupt, "tensor \"{}\": no dtype \"{}\"", entry.name,
                json.at("dtype").get<std::string>());
  }
  entry.dtype = *dtype;
  const Json& shape = json.at("shape");
  if (!shape.is_array() || shape.size() > kMostRank) {
    return fail(ErrorCode::kCorrupt, "tensor \"{}\": no shape", entry.name);
  }
  for (const Json& size : shape) {
    entry.shape.push_back(json_integer<std::int64_t>(size, "a size of \"" + entry.name + "\""));
  }
  const auto bytes = byte_count(entry.dtype, entry.shape);
  if (!bytes) {
    return fail(ErrorCode::kCorrupt, "tensor \"{}\": {}", entry.name, bytes.error().message);
  }
  entry.size_bytes = *bytes;
  const auto digest = parse_digest(json.at("sha256").get<std::string>());
  if (!digest) {
    return fail(ErrorCode::kCorrupt, "tensor \"{}\": {}", entry.name, digest.error().message);
  }
  entry.digest = *digest;
  return entry;
}

Expected<std::vector<TensorEntry>> entries_from(const Json& json) {
  if (!json.is_array() || json.size() > kMostTensors) {
    return fail(ErrorCode::kCorrupt, "\"tensors\" is no list of at most {}", kMostTensors);
  }
  std::vector<TensorEntry> entries;
  std::unordered_set<std::string> names;
  for (const Json& row : json) {
    PARETO_ASSIGN(TensorEntry entry, entry_from(row));
    if (!names.insert(entry.name).second) {
      return fail(ErrorCode::kCorrupt, "tensor \"{}\" is there twice", entry.name);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Expected<CheckpointManifest> read_manifest(const std::string& text) {
  Json json = Json::parse(text);
  if (!json.is_object() || json.value("kind", "") != kKind) {
    return fail(ErrorCode::kCorrupt, "it is no manifest of a checkpoint");
  }
  if (const auto version = integer_in<int>(json.at("version")); version != kVersion) {
    return fail(ErrorCode::kCorrupt, "version {} of the format, and this program reads version {}",
                json.at("version").dump(), kVersion);
  }
  const auto said = json.at("sha256").get<std::string>();
  json.erase("sha256");
  if (sha256(dump(json)).hex() != said) {
    return fail(ErrorCode::kCorrupt, "its bytes are not those that were written");
  }
  CheckpointManifest manifest;
  PARETO_ASSIGN(manifest.setup, with_context(setup_from_json(json.at("setup")), "setup"));
  PARETO_ASSIGN(manifest.progress,
                with_context(progress_from_json(json.at("progress")), "progress"));
  PARETO_ASSIGN(manifest.tensors, entries_from(json.at("tensors")));
  return manifest;
}

}  // namespace

std::string manifest_text(const CheckpointManifest& manifest) {
  Json json{{"kind", kKind},
            {"version", kVersion},
            {"setup", setup_json(manifest.setup)},
            {"progress", progress_json(manifest.progress)},
            {"tensors", Json::array()}};
  for (const TensorEntry& entry : manifest.tensors) json["tensors"].push_back(entry_json(entry));
  json["sha256"] = sha256(dump(json)).hex();
  return dump(json, 1) + "\n";
}

Expected<CheckpointManifest> manifest_from_text(const std::string& text) {
  try {
    return read_manifest(text);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}", json_reason(error));
  }
}

}  // namespace pareto::train
