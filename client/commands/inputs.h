// A model's inputs from files of people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/value.h"
#include "partitioner/graph/model.h"

namespace pareto::client {

/// One .npy file an input, each with the batch as its first dimension.
struct ModelInputs {
  std::vector<Value> values;  ///< in the order of the files
  std::int64_t batch = 1;
};

/// Fails: as read_npy; kInvalidArgument naming the file (no batch).
Expected<ModelInputs> read_inputs(const std::vector<std::string>& files);

/// What devices would only refuse in LibTorch's words: number, dtypes and shapes. Fails: kInvalidArgument naming the file and what the model
/// takes.
Expected<> check_inputs(const partitioner::Model& model, const ModelInputs& inputs,
                        const std::vector<std::string>& files);

}  // namespace pareto::client
