// Shared libraries that define operators which LibTorch does not have: torchvision's,
// torch_scatter's, one's own.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::runtime {

/// Loads libraries, for as long as the process lives. A library runs code of its own as it is
/// loaded, so only the user of this machine may name one. From then on shards may use its
/// operators, except those that read or write files (archive/operator_review.h).
/// Threads: one, before models are opened.
/// Fails: kNotFound (no such file), kInvalidArgument (it cannot be loaded: with the linker's
/// reason).
Expected<> load_operator_libraries(const std::vector<std::string>& files);

}  // namespace pareto::runtime
