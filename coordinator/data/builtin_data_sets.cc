#include <array>

#include "coordinator/data/cifar10.h"
#include "coordinator/data/npy_files.h"
#include "coordinator/data/open_data_set.h"
#include "coordinator/data/picture_folder.h"
#include "coordinator/data/synthetic.h"

namespace pareto::data {

std::span<const DataSetKind> builtin_data_sets() {
  static constexpr std::array<DataSetKind, 4> kKinds{{
      {"", "DIR", "a folder with a folder of JPEG and PNG files for each class",
       open_picture_folder},
      {"cifar10", "cifar10:DIR", "CIFAR-10's binary files", open_cifar10},
      {"npy", "npy:DIR", "inputs.npy and labels.npy", open_npy_files},
      {"synthetic", "synthetic[:CLASSES]", "samples that are made up", open_synthetic, false},
  }};
  return kKinds;
}

}  // namespace pareto::data
