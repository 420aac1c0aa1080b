// Where the tensor store keeps its files: objects/ab/cdef…, uploads in incoming/…, and a lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::daemon {

/// The folder of one process, and the file system that it is on. Threads: any.
class TensorFolder {
 public:
  /// A file whose name is a digest. Its content is not checked.
  struct File {
    Digest digest;
    std::uint64_t bytes = 0;
    std::filesystem::file_time_type last_used;
  };

  /// Makes the folder if it is missing, locks it, and removes uploads that an earlier process did
  /// not finish. Fails: kPermission (not writable, or another daemon uses it), kNotFound,
  /// kExhausted.
  static Expected<std::unique_ptr<TensorFolder>> open(const std::filesystem::path& path);

  /// Returns the tensors' files, the least recently used first. Foreign files are left out. Fails
  /// if the folder cannot be read.
  Expected<std::vector<File>> files() const;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path path_of(const Digest& digest) const;
  /// Returns a pattern for mkostemp(): the name of an upload's file.
  std::string upload_pattern() const { return (path_ / "incoming" / "XXXXXX").string(); }
  /// Returns the space on the disk that a file of `file_bytes` takes.
  std::uint64_t taken_bytes(std::uint64_t file_bytes) const;
  /// Returns the free space of the file system; 0 if unknown.
  std::uint64_t free_bytes() const;

 private:
  explicit TensorFolder(std::filesystem::path path);
  Expected<> lock();

  const std::filesystem::path path_;
  const std::uint64_t block_bytes_;  ///< the unit in which the file system allots space
  FileDescriptor lock_;
};

}  // namespace pareto::daemon
