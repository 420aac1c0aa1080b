// A real model that is cut and runs in no time.
#pragma once

#include "partitioner/model/zoo/model_builder.h"

namespace pareto::test {

inline model::Model small_model() {
  model::zoo::ModelOptions options;
  options.num_classes = 10;
  options.input = {{{3, 64, 64}, DType::kFloat32}};
  return model::zoo::open_model("squeezenet1_0", options).value();
}

}  // namespace pareto::test
