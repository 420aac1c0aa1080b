// Files that people give for a model, and that no reader reads. No LibTorch.
#pragma once

#include <string_view>

#include "partitioner/model/readers/file_ends.h"

namespace pareto::model {

/// A kind of file that is no model for this program.
struct FileKind {
  std::string_view name;    ///< "an ONNX file"
  std::string_view remedy;  ///< how to make a file that is read: "save the PyTorch module …"
};

/// Returns the kind of a file that no reader recognises, by its ends, then by its extension
/// (".onnx"); null if that is not known either.
const FileKind* kind_of_unread(const FileEnds& ends, std::string_view extension);

/// Returns whether a name ends as those of such files do.
bool is_named_as_unread(std::string_view name);

}  // namespace pareto::model
