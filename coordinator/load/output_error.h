// Error of a pipeline's outputs against the expected ones: the price of a lossy codec, a fast
// engine or a low precision.
#pragma once

#include <vector>

#include "coordinator/results/record.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::load {

/// Returns the error over all float32 tensors of both, in order; rows of those [batch, classes] are
/// compared by their largest class too. Infinite if the two do not have the same tensors. Threads:
/// any.
results::OutputError output_error(const std::vector<Value>& expected,
                                  const std::vector<Value>& found);
/// Fails if that error is infinite: kInternal naming the output, and its dtype and shape if they
/// are not the expected ones.
Expected<> check_outputs(const std::vector<Value>& expected, const std::vector<Value>& found);

}  // namespace pareto::load
