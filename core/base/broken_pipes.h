// Writing to a peer that is gone, by a library that cannot be told to raise no signal.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace pareto {

/// Lets writes of this thread fail with EPIPE while it lives, and not end the process by SIGPIPE.
///
/// Threads: the one that made it.
class QuietBrokenPipes {
 public:
  QuietBrokenPipes() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, pipe(), &before_);
  }
  ~QuietBrokenPipes() {
    // The signal of such a write waits for this thread, and would come now.
    const timespec no_time{};
    while (!was_pending_ && ::sigtimedwait(pipe(), nullptr, &no_time) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  QuietBrokenPipes(const QuietBrokenPipes&) = delete;
  QuietBrokenPipes& operator=(const QuietBrokenPipes&) = delete;

 private:
  static const sigset_t* pipe() {
    static const sigset_t kPipe = [] {
      sigset_t set;
      ::sigemptyset(&set);
      ::sigaddset(&set, SIGPIPE);
      return set;
    }();
    return &kPipe;
  }

  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace pareto
