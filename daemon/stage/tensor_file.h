// One stored tensor as a file: a small header, then its bytes. The file can be mapped and used as
// it is. Format: FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/mapped_file.h"
#include "core/tensor/tensor.h"

namespace pareto::daemon {

/// Content of the header. The shape is that of the first sender: equal bytes are one tensor,
/// whatever their shape.
struct TensorFileHeader {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t size_bytes = 0;
};

/// Returns the header's bytes. Their number is a multiple of 64, so that the bytes behind them are
/// aligned in a mapping.
/// Fails: kInvalidArgument (rank, or a size that is not that of the shape).
Expected<std::vector<std::byte>> encode_header(const TensorFileHeader& header);

/// A whole file in memory, meant to be read only. Pages are private, so a write to them reaches
/// neither the file nor another process.
/// Threads: any, once open() has returned.
class MappedTensorFile {
 public:
  /// Maps the file and checks its header and its length. Fails: kNotFound, kPermission, kCorrupt.
  static Expected<std::shared_ptr<const MappedTensorFile>> open(const std::filesystem::path& path);

  const TensorFileHeader& header() const { return header_; }
  std::span<const std::byte> data() const {
    return file_.bytes().subspan(offset_, header_.size_bytes);
  }

 private:
  explicit MappedTensorFile(MappedFile file) : file_(std::move(file)) {}
  Expected<> parse();

  MappedFile file_;
  std::size_t offset_ = 0;
  TensorFileHeader header_;
};

}  // namespace pareto::daemon
