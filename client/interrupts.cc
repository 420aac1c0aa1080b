#include "client/interrupts.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <thread>

namespace pareto::client {
namespace {

// A handler, not a blocked signal and a descriptor: libraries start threads before main() that no
// mask of ours reaches, and a signal may be given to any of them.
volatile sig_atomic_t signal_pipe = -1;

void tell_watcher(int number) {
  const int before = errno;
  const auto byte = static_cast<unsigned char>(number);
  (void)!::write(signal_pipe, &byte, 1);
  errno = before;
}

constexpr std::array kWatched{SIGINT, SIGTERM, SIGHUP};
constexpr unsigned char kEnd = 0;

}  // namespace

class Interrupts::Watcher {
 public:
  explicit Watcher(Interrupts& told) : told_(told) {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) return;  // then signals end the process as ever
    signal_pipe = ends_[1];
    thread_ = std::jthread([this] { wait(); });
    struct sigaction action {};
    action.sa_handler = tell_watcher;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kWatched.size(); ++i) {
      ::sigaction(kWatched[i], nullptr, &before_[i]);
      // Under nohup it goes on without its terminal.
      const bool outlives = kWatched[i] == SIGHUP && before_[i].sa_handler == SIG_IGN;
      if (!outlives) ::sigaction(kWatched[i], &action, nullptr);
    }
  }

  ~Watcher() {
    if (!thread_.joinable()) return;
    for (std::size_t i = 0; i < kWatched.size(); ++i)
      ::sigaction(kWatched[i], &before_[i], nullptr);
    (void)!::write(ends_[1], &kEnd, 1);
    thread_.join();
    for (const int end : ends_) ::close(end);
  }

  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  void wait() {
    for (;;) {
      unsigned char number = kEnd;
      const ssize_t got = ::read(ends_[0], &number, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got != 1 || number == kEnd) return;
      // Asked twice: now, and whatever is under way. A terminal that goes may say so twice, and
      // asks but once.
      const bool again = told_.stop_.exchange(true);
      if (again && number != SIGHUP) ::_exit(128 + number);
      if (!again) respond(number);
      told_.stop_.notify_all();
      const std::uint64_t once = 1;
      (void)!::write(told_.told_.get(), &once, sizeof once);
    }
  }

  void respond(int number) const {
    const Answer answer = told_.answer();
    if (answer.sentence != nullptr) say(answer.sentence);
    if (!answer.ends) return;
    ::signal(number, SIG_DFL);
    ::kill(::getpid(), number);
  }

  /// Prints a sentence. A terminal shows "^C" where the cursor stands: the sentence begins a line
  /// of its own.
  static void say(const char* sentence) {
    const std::string line =
        std::string(::isatty(STDERR_FILENO) == 1 ? "\n" : "") + sentence + "\n";
    (void)!::write(STDERR_FILENO, line.data(), line.size());
  }

  Interrupts& told_;
  std::array<int, 2> ends_{-1, -1};
  std::array<struct sigaction, kWatched.size()> before_{};
  std::jthread thread_;
};

Interrupts::Interrupts() = default;
Interrupts::~Interrupts() = default;

const std::atomic<bool>& Interrupts::watch() {
  if (!watcher_) {
    told_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
    watcher_ = std::make_unique<Watcher>(*this);
  }
  return stop_;
}

void Interrupts::set(Answer answer) {
  const std::lock_guard lock(mutex_);
  answer_ = answer;
}

Interrupts::Answer Interrupts::answer() {
  const std::lock_guard lock(mutex_);
  return answer_;
}

}  // namespace pareto::client
