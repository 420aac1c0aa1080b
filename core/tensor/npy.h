// NumPy's .npy files, format 1.0 to 3.0: how people hand tensors over. Foreign bytes: the header is
// checked against the file.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/random_access_file.h"
#include "core/tensor/tensor.h"

namespace pareto {

/// Reads a tensor that is little-endian and in C order. Fails: kNotFound, kCorrupt (no .npy file,
/// truncated), kInvalidArgument (a dtype or order we do not take).
Expected<Tensor> read_npy(const std::filesystem::path& path);
/// Fails if NumPy lacks the type: kInvalidArgument.
Expected<> check_npy_type(DType dtype);
/// Writes a tensor as a .npy file, atomically. Fails: as write_file_atomically; kInvalidArgument
/// for dtypes that NumPy lacks (bfloat16, complex32).
Expected<> write_npy(const std::filesystem::path& path, const Tensor& tensor);

/// A .npy file that is read row by row: it may be larger than memory.
///
/// Threads: any.
class NpyFile {
 public:
  /// Reads and checks the header. Fails: as read_npy() and RandomAccessFile::open() do.
  static Expected<NpyFile> open(const std::filesystem::path& path);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  /// Reads one row: all that has `index` in the first dimension, without that dimension. Fails:
  /// kInvalidArgument (there is no such row), and as RandomAccessFile::read() does.
  Expected<Tensor> row(std::int64_t index) const;

 private:
  NpyFile(RandomAccessFile file, DType dtype, Shape shape, std::uint64_t data_at)
      : file_(std::move(file)), dtype_(dtype), shape_(std::move(shape)), data_at_(data_at) {}

  RandomAccessFile file_;
  DType dtype_;
  Shape shape_;
  std::uint64_t data_at_;  ///< place of the first element
};

}  // namespace pareto
