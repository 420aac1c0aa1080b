// Lines over a unix socket between two processes of one user.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::cluster {

/// A connected socket. Threads: one owner.
class LineChannel {
 public:
  /// The longest line, without its end, if no other is named.
  static constexpr std::size_t kMaxLine = 64 << 10;

  explicit LineChannel(FileDescriptor socket, std::size_t most = kMaxLine)
      : socket_(std::move(socket)), most_(most) {}

  /// Returns the next line; no value if the peer has closed. `stop`: -1, or a descriptor that ends
  /// the wait once it is readable. Fails: kTimeout, kClosed (stopped), kCorrupt (a longer line),
  /// kUnavailable.
  Expected<std::optional<std::string>> receive(Deadline deadline, int stop = -1);
  /// Returns whether a line has come whole, so that receive() does not wait.
  bool has_line() const { return buffer_.find('\n') != std::string::npos; }
  /// Sends a line, which has no end in it. Fails: kUnavailable (the peer is gone or does not read).
  Expected<> send(std::string line) const;
  int descriptor() const { return socket_.get(); }

 private:
  FileDescriptor socket_;
  std::size_t most_;  ///< longest line, in bytes
  std::string buffer_;
};

/// Listens at `path`, in place of a socket that a process left there. Only this user may connect.
/// Fails: kInvalidArgument (the path is too long for a socket), kPermission.
Expected<FileDescriptor> listen_at(const std::filesystem::path& path);
/// Takes a connection that waits; no value if there is none, or if it is that of a user who is
/// neither this one nor root.
std::optional<LineChannel> accept_from(const FileDescriptor& listener,
                                       std::size_t most = LineChannel::kMaxLine);
/// Connects to the socket at a path. Fails: kNotFound (nobody listens there), kTimeout (who listens
/// accepts nobody), kPermission (another user's).
Expected<LineChannel> connect_at(const std::filesystem::path& path,
                                 std::size_t most = LineChannel::kMaxLine);

}  // namespace pareto::cluster
