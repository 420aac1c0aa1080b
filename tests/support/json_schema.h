// Validates JSON against a JSON Schema (draft 2020-12), as far as the golden schemas of this
// project use it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pareto::test {

/// Returns "sweep": tests/golden/sweep.schema.json, read once. Throws if there is none.
const nlohmann::json& golden_schema(const std::string& name);

/// Returns every violation as "/trials/3/batch: 0 is less than 1". Understands type, enum, const,
/// properties, required, additionalProperties, items, minItems, maxItems, minimum, maximum,
/// minLength, pattern, anyOf, allOf, if/then/else and $ref to "#/$defs/NAME" or to the whole of
/// "OTHER.schema.json"; an unknown keyword is a violation too, so that none is silently ignored.
std::vector<std::string> violations(const nlohmann::json& schema, const nlohmann::json& document);

}  // namespace pareto::test
