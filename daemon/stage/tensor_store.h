// Weights on disk by what they hold: each crosses to a device once, and is mapped, not read, by every shard that needs it.
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

namespace pareto::daemon {

class TensorStore;

/// One tensor on its way in. What was written goes away again unless finish() succeeds.
///
/// Threads: one owner. The store must outlive it.
class TensorUpload {
 public:
  ~TensorUpload();
  TensorUpload(const TensorUpload&) = delete;
  TensorUpload& operator=(const TensorUpload&) = delete;

  /// Fails: kInvalidArgument (more bytes than announced), kExhausted (no room in the store, disk full).
  Expected<> append(std::span<const std::byte> bytes);
  /// All announced bytes are there.
  bool complete() const { return received_ == header_.size_bytes; }
  /// Fails: kInvalidArgument (bytes are missing), kCorrupt (they are not what the digest says).
  Expected<> finish();

 private:
  friend class TensorStore;
  TensorUpload(TensorStore& store, const Digest& digest, TensorFileHeader header);

  TensorStore& store_;
  const Digest digest_;
  const TensorFileHeader header_;
  Hasher hasher_;
  std::uint64_t received_ = 0;
  std::uint64_t header_bytes_ = 0;
  std::uint64_t reserved_ =
      0;  ///< what the file takes so far; 0 if the store has the tensor already
  int fd_ = -1;
  std::filesystem::path path_;
};

/// A folder of content-addressed tensors with a bound on its size: the least recently used ones that no Tensor holds make room. They
/// make room as well if the file system is full before the bound is reached. A file counts with the blocks that it takes of the
/// disk, and there is a bound on their number.
///
/// Owned by the daemon, one process per folder (a lock file sees to it). Threads: any.
class TensorStore {
 public:
  /// Bounds the memory that the list of them takes.
  static constexpr std::size_t kMostTensors = std::size_t{1} << 18;

  struct Status {
    std::uint64_t bytes = 0;
    std::uint64_t limit_bytes = 0;
    std::uint64_t tensors = 0;
    std::uint64_t in_use_bytes = 0;   ///< of those that a Tensor holds
    std::uint64_t dropped_bytes = 0;  ///< of those that made room, since it was opened
    std::uint64_t free_bytes = 0;     ///< free space of its file system; 0 if that is not known
  };

  /// Makes the folder where it is missing; finds what an earlier process left. Fails: kPermission (not writable, or another daemon
  /// uses it), kNotFound, kExhausted.
  static Expected<std::unique_ptr<TensorStore>> open(const std::filesystem::path& folder,
                                                     std::uint64_t limit_bytes);
  ~TensorStore();
  TensorStore(const TensorStore&) = delete;
  TensorStore& operator=(const TensorStore&) = delete;

  /// Those of `digests` that are not here, in the order asked. Those that are count as just used.
  std::vector<Digest> missing(std::span<const Digest> digests);

  /// Maps a tensor; all who hold it share the pages. A file that an earlier process left is read and checked the first time: a
  /// corrupt one is dropped, and then missing. Fails: kNotFound naming the digest.
  Expected<Tensor> get(const Digest& digest);

  /// Begins to receive a tensor. Others make room for its bytes as they come, not for what was announced. A tensor that is there
  /// already is received and checked, and not written. Fails: kInvalidArgument (shape and size disagree), kExhausted (it could not
  /// fit beside what is in use, with the figures).
  Expected<std::unique_ptr<TensorUpload>> begin(const Digest& digest, TensorFileHeader header);

  /// Whether tensors of so many bytes could be here all at once. Fails: kExhausted, with the remedy.
  Expected<> check_capacity(std::uint64_t bytes) const;

  Status status() const;
  /// A smaller limit drops what is not in use at once.
  void set_limit(std::uint64_t limit_bytes);

 private:
  friend class TensorUpload;
  struct Entry {
    std::uint64_t file_bytes = 0;  ///< of the blocks that it takes
    std::uint64_t last_used = 0;
    bool verified = false;
    std::weak_ptr<const MappedTensorFile> mapping;
  };

  TensorStore(std::filesystem::path folder, std::uint64_t limit_bytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}
  Expected<> lock_folder();
  Expected<> scan();
  std::filesystem::path path_of(const Digest& digest) const;
  /// Returns what a file of so many bytes takes of the disk.
  std::uint64_t taken_bytes(std::uint64_t file_bytes) const;
  // With mutex_ held:
  std::uint64_t in_use_bytes() const;
  tl::unexpected<Error> no_room(const TensorUpload& upload, std::uint64_t needed,
                                std::uint64_t in_use) const;
  /// Fails if what is announced could not fit, whatever made room. Drops nothing.
  Expected<> check_room(const TensorUpload& upload) const;
  bool drop_oldest();
  void drop(const Digest& digest);
  Expected<std::shared_ptr<const MappedTensorFile>> map(const Digest& digest, Entry& entry);

  /// Writes all bytes to an upload's file; tensors make room if the file system is full. Fails: kExhausted with the remedy.
  Expected<> write(int fd, std::span<const std::byte> bytes);
  /// Calls `attempt` (0 or an errno) until the file system has room for it, or no tensor is left to make room; returns the last result.
  int with_room(const std::function<int()>& attempt);
  Error disk_full() const;
  /// Reserves what the upload's bytes that came take of the disk. Fails: kExhausted.
  Expected<> make_room(TensorUpload& upload);
  Expected<> publish(TensorUpload& upload);
  void release(std::uint64_t reserved_bytes);

  const std::filesystem::path folder_;
  int lock_fd_ = -1;
  std::uint64_t block_bytes_ = 1;
  mutable std::mutex mutex_;
  std::unordered_map<Digest, Entry> entries_;
  std::uint64_t limit_bytes_;
  std::uint64_t bytes_ = 0;     ///< of the files in entries_
  std::uint64_t reserved_ = 0;  ///< by uploads under way
  std::uint64_t dropped_ = 0;   ///< bytes of those that made room
  std::uint64_t uses_ = 0;      ///< counts up with every use: the order of last use
};

}  // namespace pareto::daemon
