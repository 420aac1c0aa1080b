// A file that is read in parts, at any place of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto {

/// An open regular file.
///
/// Threads: any.
class RandomAccessFile {
 public:
  /// Opens a file to read. Fails: kNotFound, kPermission, kInvalidArgument (a folder, a pipe or a
  /// device).
  static Expected<RandomAccessFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// Returns the size that it had when it was opened.
  std::uint64_t size_bytes() const { return size_bytes_; }
  /// Fills `into` with the bytes from `offset` on. Fails: kCorrupt (the file ends before), and as
  /// the file system does, with the path.
  Expected<> read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  RandomAccessFile(std::filesystem::path path, FileDescriptor file, std::uint64_t size_bytes)
      : path_(std::move(path)), file_(std::move(file)), size_bytes_(size_bytes) {}

  std::filesystem::path path_;
  FileDescriptor file_;
  std::uint64_t size_bytes_;
};

}  // namespace pareto
