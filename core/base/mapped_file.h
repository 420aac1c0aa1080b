// A file in memory without being read: its pages come when they are looked at.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/base/error.h"

namespace pareto {

/// All bytes of a regular file, with the size that it had when it was opened. They may be written
/// to: what is written stays here. If somebody cuts the file short, its pages end the process.
///
/// Threads: any.
class MappedFile {
 public:
  /// Maps a whole file into memory. Fails: kNotFound, kPermission, kInvalidArgument (a folder, a
  /// pipe or a device), kExhausted.
  static Expected<MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  explicit MappedFile(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

}  // namespace pareto
