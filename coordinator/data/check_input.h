// What a data set's samples have to be like, so that a model takes them.
#pragma once

#include <optional>
#include <string>

#include "coordinator/data/open_data_set.h"
#include "coordinator/data/picture.h"
#include "coordinator/data/preprocessing.h"
#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::data {

/// Checks the shape of samples against what the model takes. `remedy` is what can be done about it.
/// Fails: kInvalidArgument.
Expected<> check_input(const Shape& shape, const DataSetOptions& options,
                       const std::string& remedy);

/// Returns the options' preprocessing, or `usual` of what the model takes (224x224 if that is not
/// known). `own` is the size of all pictures, if they have one. Fails: kInvalidArgument (it makes
/// another shape than the model takes).
Expected<Preprocessing> settle_preprocessing(const DataSetOptions& options,
                                             Preprocessing (*usual)(PictureSize input),
                                             std::optional<PictureSize> own);

}  // namespace pareto::data
