// The pickle of a state_dict, as torch.save writes it. No LibTorch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "partitioner/model/zoo/state_dict.h"

namespace pareto::model::zoo {

struct PickledState {
  std::string pickle;            ///< the record "data.pkl"
  std::vector<Tensor> storages;  ///< number i is the record "data/i": dense, row by row
};

/// Writes an OrderedDict of tensors. Tensors of one type that share their bytes share a storage.
/// Fails: kInvalidArgument (a name of more than 4 GiB), kExhausted.
Expected<PickledState> pickle_state(const Entries& entries);

}  // namespace pareto::model::zoo
