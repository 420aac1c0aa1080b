#include "client/interrupts.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace pareto::client {

class Interrupts::Watcher {
 public:
  explicit Watcher(std::atomic<bool>& stop) : stop_(stop), end_fd_(::eventfd(0, EFD_CLOEXEC)) {
    // Blocked in this thread and all it makes; read from a descriptor instead.
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &watched, &before_);
    signal_fd_ = ::signalfd(-1, &watched, SFD_CLOEXEC);
    if (signal_fd_ >= 0 && end_fd_ >= 0) thread_ = std::jthread([this] { wait(); });
  }

  ~Watcher() {
    const std::uint64_t one = 1;
    if (end_fd_ >= 0) (void)!::write(end_fd_, &one, sizeof one);
    if (thread_.joinable()) thread_.join();
    if (signal_fd_ >= 0) ::close(signal_fd_);
    if (end_fd_ >= 0) ::close(end_fd_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  void wait() {
    for (;;) {
      pollfd watched[2]{{signal_fd_, POLLIN, 0}, {end_fd_, POLLIN, 0}};
      if (::poll(watched, 2, -1) < 0 && errno == EINTR) continue;
      if (watched[1].revents != 0) return;
      signalfd_siginfo info{};
      if (::read(signal_fd_, &info, sizeof info) != sizeof info) return;
      // Asked twice: now, and whatever is under way.
      if (stop_.exchange(true)) ::_exit(128 + static_cast<int>(info.ssi_signo));
      stop_.notify_all();
    }
  }

  std::atomic<bool>& stop_;
  int end_fd_;
  int signal_fd_ = -1;
  sigset_t before_{};
  std::jthread thread_;
};

Interrupts::Interrupts() = default;
Interrupts::~Interrupts() = default;

const std::atomic<bool>& Interrupts::watch() {
  if (!watcher_) watcher_ = std::make_unique<Watcher>(stop_);
  return stop_;
}

}  // namespace pareto::client
