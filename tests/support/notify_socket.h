// The socket that systemd would listen on (sd_notify(3)), of a test's own.
#pragma once

#include <chrono>
#include <string>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"

namespace pareto::test {

/// A socket for messages of sd_notify().
///
/// Threads: one owner.
class NotifySocket {
 public:
  NotifySocket();

  /// Returns "NOTIFY_SOCKET=…", for the environment of a process that is to speak to it.
  std::string variable() const { return "NOTIFY_SOCKET=" + path(); }
  /// Returns the next message, lines separated by newlines; empty when none came in time.
  std::string receive(std::chrono::milliseconds limit = std::chrono::seconds(60)) const;
  /// Returns the next message with such a line, those before it dropped; empty when none came in
  /// time.
  std::string receive_with(const std::string& line) const;
  /// Drops what has come so far.
  void drop_waiting() const;

 private:
  std::string path() const { return folder_.path() / "notify"; }

  TemporaryFolder folder_;
  FileDescriptor socket_;
};

}  // namespace pareto::test
