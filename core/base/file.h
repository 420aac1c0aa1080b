// Files, whole: read with a limit, written so that a reader sees the old or the new content, never
// half.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto {

/// Reads a whole file of at most `limit_bytes`. Fails: kNotFound, kPermission, kExhausted (longer
/// than limit_bytes).
Expected<std::string> read_file(const std::filesystem::path& path,
                                std::uint64_t limit_bytes = std::uint64_t{1} << 30);
/// Reads one like read_file(), and waits for nobody. Fails: kInvalidArgument (a pipe or a device),
/// and as read_file().
Expected<std::string> read_regular_file(const std::filesystem::path& path,
                                        std::uint64_t limit_bytes);

/// Writes next to `path` and renames over it: the file is there as it was or whole. It keeps its
/// mode, which the new content has from its first byte on; a new file has what the umask leaves. A
/// link is followed; what is no file, as /dev/stdout, is written to. Fails: kPermission, kExhausted
/// (disk full), kNotFound (no folder), kInvalidArgument (a folder).
Expected<> write_file_atomically(const std::filesystem::path& path,
                                 std::span<const std::byte> bytes);
Expected<> write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// A folder that belongs to one process, until it lets go or ends, whatever ends it. Threads: one
/// owner.
class FolderLock {
 public:
  /// Returns no value if another process has it. Fails: kNotFound (no such folder), kPermission.
  static Expected<std::optional<FolderLock>> try_take(const std::filesystem::path& folder);
  /// Returns whether a process has the lock, without taking it. Fails: as try_take.
  static Expected<bool> is_taken(const std::filesystem::path& folder);

 private:
  explicit FolderLock(FileDescriptor folder) : folder_(std::move(folder)) {}
  FileDescriptor folder_;
};

/// A folder of its own below the system's temporary folder, removed with all it holds when this
/// ends. What a process that was killed left behind is removed when the next one is made with the
/// same prefix.
class TemporaryFolder {
 public:
  /// Makes an empty folder in TMPDIR, or /tmp, with a name that begins with `prefix`. Fails:
  /// kNotFound (TMPDIR names no folder), kPermission, kExhausted.
  static Expected<TemporaryFolder> create(std::string_view prefix);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryFolder(std::filesystem::path path, std::optional<FolderLock> lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  std::optional<FolderLock> lock_;  ///< no value means that its file system has no locks
};

/// Makes the Error for an errno: kNotFound, kPermission, kExhausted (ENOSPC, EMFILE, ENOMEM), …
/// with its text.
Error error_from_errno(int errno_value, std::string_view what);

}  // namespace pareto
