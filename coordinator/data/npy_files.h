// A folder with inputs.npy, float32 {N, …}, and labels.npy, int64 {N}.
#pragma once

#include <memory>
#include <string>

#include "coordinator/data/open_data_set.h"

namespace pareto::data {

/// Opens a folder of such files, and checks each label. Inputs are read when they are asked for.
/// Fails: as NpyFile::open() and read_npy(); kInvalidArgument (another dtype or shape, a label that
/// is no class: which).
Expected<std::unique_ptr<DataSet>> open_npy_files(const std::string& folder,
                                                  const DataSetOptions& options);

}  // namespace pareto::data
