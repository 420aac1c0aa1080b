// Proposals of shells for values that are looked up: `paretoctl --complete runs WORD…`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pareto::client {

/// Returns the words of a kind, one a line: "runs" (ids and names), "devices" and "addresses" (of
/// stored runs and PARETO_DEVICES), "cuts" (of stored runs of the model that --model names),
/// "testbeds" (that are up). Nothing is proposed if it cannot be looked up. --store among the words
/// names another results file. Returns no value if the arguments do not ask for that.
std::optional<std::string> proposals(const std::vector<std::string>& arguments);

}  // namespace pareto::client
