// Weights on disk, under the digest of their bytes. Each crosses to a device once. Every shard that
// needs it maps it instead of reading it.
//
//   PutTensors chunks --TensorUpload--> incoming/… --rename--> objects/ab/cdef…  --mmap--> Tensor
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "daemon/stage/tensor_file.h"
#include "daemon/stage/tensor_folder.h"
#include "daemon/stage/tensor_upload.h"

namespace pareto::daemon {

/// A folder of tensors, named by their digests, with a bound on its size. To make room, it drops
/// the least recently used tensors that no Tensor holds. It also drops them if the file system is
/// full before the bound is reached. A file counts with its blocks on the disk. The number of files
/// is bounded too.
///
/// The daemon owns it; a lock file sees to it that only one process uses a folder. Threads: any.
class TensorStore {
 public:
  /// Bounds the memory that the list of tensors takes.
  static constexpr std::size_t kMostTensors = std::size_t{1} << 18;

  struct Status {
    std::uint64_t bytes = 0;
    std::uint64_t limit_bytes = 0;
    std::uint64_t tensors = 0;
    std::uint64_t in_use_bytes = 0;   ///< size of tensors that a Tensor holds
    std::uint64_t dropped_bytes = 0;  ///< size of tensors dropped since open()
    std::uint64_t free_bytes = 0;     ///< free space of the file system; 0 if unknown
  };

  /// Opens the folder, or makes it, and finds what an earlier process left there.
  /// Fails: kPermission (not writable, or another daemon uses it), kNotFound, kExhausted.
  static Expected<std::unique_ptr<TensorStore>> open(const std::filesystem::path& folder,
                                                     std::uint64_t limit_bytes);
  ~TensorStore() = default;
  TensorStore(const TensorStore&) = delete;
  TensorStore& operator=(const TensorStore&) = delete;

  /// Returns those of `digests` that are not stored, in the given order. Those that are stored
  /// count as just used.
  std::vector<Digest> missing(std::span<const Digest> digests);

  /// Maps a tensor; all who hold it share the pages. A file from an earlier process is read and
  /// checked the first time. If it is corrupt, it is dropped, and counts as missing.
  /// Fails: kNotFound, with the digest.
  Expected<Tensor> get(const Digest& digest);

  /// Begins to receive a tensor. Room is made as bytes come, not for the announced size. A tensor
  /// that is stored already is received and checked, but not written.
  /// Fails: kInvalidArgument (shape and size disagree), kExhausted (does not fit next to what is in
  /// use; with the figures).
  Expected<std::unique_ptr<TensorUpload>> begin(const Digest& digest, TensorFileHeader header);

  /// Checks that tensors of `bytes` in total can be stored at once. Fails: kExhausted, with the
  /// remedy.
  Expected<> check_capacity(std::uint64_t bytes) const;

  /// Returns sizes and counts of this moment.
  Status status() const;
  /// Changes the limit. A smaller one drops unused tensors at once.
  void set_limit(std::uint64_t limit_bytes);

 private:
  friend class TensorUpload;
  struct Entry {
    std::uint64_t file_bytes = 0;  ///< size of its blocks on the disk
    std::uint64_t last_used = 0;
    bool verified = false;
    std::weak_ptr<const MappedTensorFile> mapping;
  };

  TensorStore(std::unique_ptr<const TensorFolder> folder, std::uint64_t limit_bytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}
  /// Takes the files of an earlier process into the list. Drops the oldest if they exceed a bound.
  void adopt(const std::vector<TensorFolder::File>& files);
  // These need mutex_:
  std::uint64_t in_use_bytes() const;
  tl::unexpected<Error> no_room(const TensorUpload& upload, std::uint64_t needed,
                                std::uint64_t in_use) const;
  /// Fails if an announced tensor could not fit, even if all that is unused were dropped. Drops
  /// nothing.
  Expected<> check_room(const TensorUpload& upload) const;
  bool drop_oldest();
  void drop(const Digest& digest);
  Expected<std::shared_ptr<const MappedTensorFile>> map(const Digest& digest, Entry& entry);

  /// Writes all bytes to an upload's file. Drops unused tensors if the file system is full. Fails:
  /// kExhausted, with the remedy.
  Expected<> write(int fd, std::span<const std::byte> bytes);
  /// Calls `attempt`, which returns 0 or an errno, until the file system has room for it. Drops an
  /// unused tensor before each further attempt, while there is one. Returns the last result.
  int with_room(const std::function<int()>& attempt);
  Error disk_full() const;
  /// Reserves the space on the disk that the received bytes of an upload take. Fails: kExhausted.
  Expected<> make_room(TensorUpload& upload);
  Expected<> publish(TensorUpload& upload);
  void release(std::uint64_t reserved_bytes);

  const std::unique_ptr<const TensorFolder> folder_;
  mutable std::mutex mutex_;
  std::unordered_map<Digest, Entry> entries_;
  std::uint64_t limit_bytes_;
  std::uint64_t bytes_ = 0;     ///< size of the files in entries_
  std::uint64_t reserved_ = 0;  ///< size reserved by uploads
  std::uint64_t dropped_ = 0;   ///< size of all tensors dropped
  std::uint64_t uses_ = 0;      ///< number of uses; orders entries by last use
};

}  // namespace pareto::daemon
