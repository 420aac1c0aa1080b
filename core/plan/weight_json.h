// Weights in JSON documents: name, digest, dtype, shape. Only sources of core/plan see it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/plan/shard.h"

namespace pareto::plan {

nlohmann::ordered_json to_json(const WeightRef& weight);
/// Reads a weight. Throws nlohmann::json::exception. Fails: kCorrupt, with a sentence that names
/// the weight (no name, no digest, an unknown dtype, an impossible shape).
Expected<WeightRef> weight_from(const nlohmann::json& json);

/// Reads a name of at most 4096 bytes. Fails: kCorrupt (no string, or one of over 4096 bytes).
Expected<std::string> name_from(const nlohmann::json& json);

}  // namespace pareto::plan
