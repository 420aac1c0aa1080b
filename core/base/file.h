// Files, whole: read with a limit, written so that a reader sees the old or the new content, never half.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/base/error.h"

namespace pareto {

/// Fails: kNotFound, kPermission, kExhausted (longer than limit_bytes).
Expected<std::string> read_file(const std::filesystem::path& path,
                                std::uint64_t limit_bytes = std::uint64_t{1} << 30);

/// Writes beside `path` and renames over it. Fails: kPermission, kExhausted (disk full), kNotFound (no folder).
Expected<> write_file_atomically(const std::filesystem::path& path,
                                 std::span<const std::byte> bytes);
Expected<> write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// A folder of its own below the system's temporary folder, removed with all it holds when this ends.
class TemporaryFolder {
 public:
  static Expected<TemporaryFolder> create(std::string_view prefix);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// The Error for an errno: kNotFound, kPermission, kExhausted (ENOSPC, EMFILE, ENOMEM), … with its text.
Error error_from_errno(int errno_value, std::string_view what);

}  // namespace pareto
