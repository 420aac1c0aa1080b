// A Unix socket with a file of its own to listen on.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"
#include "daemon/control/lock_file.h"

namespace pareto::daemon {

/// Takes its file away again when it goes, unless another has taken its place. As long as it lives
/// it has a lock next to the file, NAME.lock: of daemons that start at the same moment one gets the
/// file.
///
/// Threads: one owner.
class SocketFile {
 public:
  /// Makes the file, for its user and group, and listens there. One that a daemon left when it was
  /// killed is replaced. Fails: kPermission (another process listens there, or the file can't be
  /// made), kInvalidArgument (its name is too long).
  static Expected<SocketFile> listen(const std::filesystem::path& file);
  ~SocketFile();
  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&&) = delete;

  /// Returns the listening socket, non-blocking. It is the caller's then.
  FileDescriptor take_socket() { return std::move(socket_); }

 private:
  SocketFile(std::filesystem::path file, FileDescriptor socket, LockFile lock);

  LockFile lock_;               // first: it ends when the file is gone
  std::filesystem::path file_;  ///< empty: moved from
  FileDescriptor socket_;
  ino_t inode_ = 0;
};

}  // namespace pareto::daemon
