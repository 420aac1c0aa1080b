// CIFAR-10's binary files: data_batch_1.bin to data_batch_5.bin, and test_batch.bin.
#pragma once

#include <memory>
#include <string>

#include "coordinator/data/open_data_set.h"

namespace pareto::data {

/// Opens a folder of CIFAR-10's files, and checks the label of each sample. Fails: kNotFound (a
/// file of the part), kCorrupt (a file of other than whole records), kInvalidArgument (a label that
/// is no class: which file and record).
Expected<std::unique_ptr<DataSet>> open_cifar10(const std::string& folder,
                                                const DataSetOptions& options);

}  // namespace pareto::data
