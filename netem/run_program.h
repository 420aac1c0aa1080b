// Small system programs (ip, tc) run to their end.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::netem {

/// Runs arguments[0], looked up in PATH, in the network namespace of the calling thread; its stdout
/// is dropped. Fails: kUnavailable (not installed; or, with its own words, it ended with another
/// code than 0).
Expected<> run_program(const std::vector<std::string>& arguments);
/// Runs the same; returns what it printed on stdout. Fails also: kExhausted (more than 1 MiB).
Expected<std::string> run_program_for_output(const std::vector<std::string>& arguments);

}  // namespace pareto::netem
