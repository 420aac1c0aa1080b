// Proposals of shells for values that are looked up: `paretoctl --complete runs WORD…`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pareto::client {

/// Returns the words of a kind, one a line; no value if the arguments do not ask for that. The
/// kinds are "runs" (ids and names), "devices" and "addresses" (of stored runs and PARETO_DEVICES),
/// "testbeds" (those that are up), and "cuts" (of stored runs of the model that --model names).
/// Nothing is proposed if it cannot be looked up. --store among the words names another results
/// file.
std::optional<std::string> proposals(const std::vector<std::string>& arguments);

}  // namespace pareto::client
