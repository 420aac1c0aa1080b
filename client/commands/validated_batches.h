// Reads from a file which cuts of a model were found equal to the whole (validation.h).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace pareto::client::commands {

/// Returns what a file's text remembers for this version of LibTorch: of each part, batches by the
/// cut's operators. An empty object if it cannot be read, or is another version's.
nlohmann::json validated_by(const std::string& text, const std::string& torch_version);

/// Returns the batches of a cut in a part of what is remembered, "cuts" or "trained"; none if
/// nothing is known.
std::set<std::int64_t> validated_batches_in(const nlohmann::json& remembered, const char* part,
                                            const std::string& cut);

}  // namespace pareto::client::commands
