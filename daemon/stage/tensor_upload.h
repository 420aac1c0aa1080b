// A tensor on its way into the store: its bytes go to a file of their own until all have come.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"
#include "daemon/stage/tensor_file.h"

namespace pareto::daemon {

class TensorStore;

/// One tensor that is being received. Its file is removed again unless finish() succeeds.
///
/// Threads: one owner. The store must outlive it.
class TensorUpload {
 public:
  ~TensorUpload();
  TensorUpload(const TensorUpload&) = delete;
  TensorUpload& operator=(const TensorUpload&) = delete;

  /// Adds bytes. Fails: kInvalidArgument (more bytes than announced), kExhausted (no room in the
  /// store, disk full).
  Expected<> append(std::span<const std::byte> bytes);
  /// Returns whether all announced bytes have come.
  bool complete() const { return received_ == header_.size_bytes; }
  /// Checks the bytes and adds the tensor to the store.
  /// Fails: kInvalidArgument (bytes are missing), kCorrupt (their digest is another).
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
  /// Space reserved for the file so far; 0 if the store has the tensor already.
  std::uint64_t reserved_ = 0;
  FileDescriptor file_;  ///< none if the store has the tensor already
  std::filesystem::path path_;
};

}  // namespace pareto::daemon
