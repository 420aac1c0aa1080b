// NumPy's .npy files, format 1.0 to 3.0: how people hand tensors over. Foreign bytes: the header is
// checked against the file.
#pragma once

#include <filesystem>

#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::client {

/// Reads a tensor that is little-endian and in C order. Fails: kNotFound, kCorrupt (no .npy file,
/// truncated), kInvalidArgument (a dtype or order we do not take).
Expected<Tensor> read_npy(const std::filesystem::path& path);
/// Fails if NumPy lacks the type: kInvalidArgument.
Expected<> check_npy_type(DType dtype);
/// Fails: as write_file_atomically; kInvalidArgument for dtypes that NumPy lacks (bfloat16,
/// complex32).
Expected<> write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace pareto::client
