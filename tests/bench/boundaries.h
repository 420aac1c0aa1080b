// What crosses a model's split points: real values, not only their sizes.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::bench {

struct Boundary {
  std::string split;  ///< "after:Mixed_5b"
  Value values;       ///< values as a stage sends them on
};

/// Returns the boundaries of every module split point of a built-in model with seeded weights, in
/// order: seeded noise run through the plain engine, from one split point to the next.
Expected<std::vector<Boundary>> module_boundaries(const std::string& model);

}  // namespace pareto::bench
