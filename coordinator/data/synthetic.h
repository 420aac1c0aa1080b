// Samples that are made up from a seed, and can be learnt: each class has a pattern, under noise.
#pragma once

#include <memory>
#include <string>

#include "coordinator/data/open_data_set.h"

namespace pareto::data {

/// Makes samples up. `classes`: their number as text; "" is the model's, or 10 if that is not
/// known. Parts have the same patterns, and other samples. Fails: kInvalidArgument (no input shape,
/// no such number, more classes than the model tells apart).
Expected<std::unique_ptr<DataSet>> open_synthetic(const std::string& classes,
                                                  const DataSetOptions& options);

}  // namespace pareto::data
