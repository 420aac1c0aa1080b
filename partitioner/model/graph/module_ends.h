// Chooses the module paths that get a split point of their own, for `modules`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "partitioner/model/graph/graph.h"

namespace pareto::model {

/// Splits "a.b.c" into "a", "a.b", "a.b.c"; "" into none.
std::vector<std::string> path_prefixes(std::string_view path);

/// Returns paths of the modules of the outer level, in order of their last operator. A module that
/// is only a sequence of others is replaced by its parts: `features` by features.0 … features.18,
/// `layer1` by layer1.0 and layer1.1, a dense block by its layers. A module whose parts work side
/// by side (an inception block), or that is small inside (a residual block), stays whole.
std::vector<std::string> outer_modules(const Graph& graph);

}  // namespace pareto::model
