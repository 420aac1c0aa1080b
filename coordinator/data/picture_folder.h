// Folders of pictures: a folder for each class, as torchvision's ImageFolder reads them.
#pragma once

#include <memory>
#include <string>

#include "coordinator/data/open_data_set.h"

namespace pareto::data {

/// Lists the pictures of a folder. Classes are its folders in the order of their names, or the
/// lines of classes.txt, if it has that file. Fails: kNotFound, kInvalidArgument (no class, one
/// without pictures, or of pictures in other formats: which).
Expected<std::unique_ptr<DataSet>> open_picture_folder(const std::string& path,
                                                       const DataSetOptions& options);

}  // namespace pareto::data
