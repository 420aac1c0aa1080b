// What `run` prints of one plan that was run.
#pragma once

#include <string>

#include "coordinator/sweep/run_once.h"

namespace pareto::client::commands {

/// Returns the figures as lines. `mode`: the name that --mode has.
std::string run_text(const std::string& mode, const sweep::RunOnceResult& result);
/// Returns one JSON document.
std::string run_json(const std::string& mode, const sweep::RunOnceResult& result);

}  // namespace pareto::client::commands
