// A child process with a way to say that it is ready: how local daemons are started and ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::cluster {

/// A child process that this object ends.
///
/// Threads: one owner.
class ChildProcess {
 public:
  /// Runs `program arguments… --ready-fd N`, its stderr into the file `log`. Fails: kNotFound (no
  /// such program), kPermission, kExhausted.
  static Expected<ChildProcess> start(const std::filesystem::path& program,
                                      std::vector<std::string> arguments,
                                      const std::filesystem::path& log);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// SIGTERM, and SIGKILL if it still runs after five seconds.
  ~ChildProcess();

  /// Returns the one line that it writes once it serves. Fails: kTimeout, kUnavailable (it ended
  /// before: with the last lines of its stderr).
  Expected<std::string> wait_ready(Deadline deadline);
  /// Sends SIGTERM and does not wait. Several processes thus end at the same time, before their
  /// destructors wait for them.
  void ask_to_end();
  /// Leaves the process running when this object ends, and when this process does.
  void leave_running();
  pid_t pid() const { return pid_; }

 private:
  ChildProcess(pid_t pid, int ready_fd, std::filesystem::path log)
      : pid_(pid), ready_fd_(ready_fd), log_(std::move(log)) {}
  std::string last_words() const;

  pid_t pid_;
  bool asked_to_end_ = false;
  int ready_fd_;
  std::filesystem::path log_;
};

}  // namespace pareto::cluster
