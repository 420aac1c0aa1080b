// A lock next to a file that one process at a time may own.
#pragma once

#include <filesystem>
#include <optional>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::daemon {

/// Removes its file when it goes. The lock itself ends with the process, whatever ends that.
///
/// Threads: one owner.
class LockFile {
 public:
  /// Takes the lock; returns no value if another process has it, or another LockFile of this one.
  /// On a file system without locks each one that asks gets it. Fails: kPermission (the file can't
  /// be made).
  static Expected<std::optional<LockFile>> try_take(const std::filesystem::path& file);
  ~LockFile();
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;

 private:
  LockFile(std::filesystem::path file, FileDescriptor locked);

  std::filesystem::path file_;  ///< empty: moved from
  FileDescriptor locked_;
};

}  // namespace pareto::daemon
