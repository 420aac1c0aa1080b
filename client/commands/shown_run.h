// Parts that a sweep and the views of stored runs share.
#pragma once

#include <filesystem>
#include <string>

#include "coordinator/results/record.h"

namespace pareto::client::commands {

/// Sorts trials as a sweep shows them: by where they are cut, whole models last. They are stored in
/// the random order in which they ended.
void put_in_order(results::RunRecord& run);

/// Returns the file that a sweep writes its report to by default, next to its results.
std::filesystem::path default_report(const std::filesystem::path& store, const std::string& run);

/// Returns the command that goes on with a run. `hint`: the flag that names its store, or "".
std::string resume_command(const results::RunRecord& run, const std::string& hint);
/// Returns a line that says that a run is not finished, and how to go on with it.
std::string unfinished_line(const results::RunRecord& run, const std::string& hint);

}  // namespace pareto::client::commands
