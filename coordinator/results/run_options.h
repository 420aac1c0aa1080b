// What a run was asked for, as its record keeps it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coordinator/results/record.h"

namespace pareto::results {

/// Returns the options of a run; an object without any if its record holds no object.
nlohmann::ordered_json run_options(const RunRecord& run);

}  // namespace pareto::results
