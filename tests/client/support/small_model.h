// A real model that is cut and runs in no time.
#pragma once

#include "partitioner/models/model_builder.h"

namespace pareto::client {

inline partitioner::Model small_model() {
  partitioner::ModelOptions options;
  options.num_classes = 10;
  options.input = {{{3, 64, 64}, DType::kFloat32}};
  return partitioner::open_model("squeezenet1_0", options).value();
}

}  // namespace pareto::client
