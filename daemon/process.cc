#include "daemon/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <future>
#include <system_error>

#include "core/base/cores.h"
#include "core/base/file.h"

namespace pareto::daemon {
namespace {

sigset_t signals(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

/// Waits for one of those signals and returns its number; no value if none arrives before `limit`
/// has passed.
std::optional<int> wait_for(const sigset_t& set, std::optional<Nanoseconds> limit) {
  const TimePoint end = std::chrono::steady_clock::now() + limit.value_or(Nanoseconds(0));
  for (;;) {
    const auto left = std::max<Nanoseconds>(end - std::chrono::steady_clock::now(), Nanoseconds(0));
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time{whole.count(), (left - whole).count()};
    const int number = ::sigtimedwait(&set, nullptr, limit ? &time : nullptr);
    if (number > 0) return number;
    // Stopping and continuing a process interrupts it.
    if (errno != EINTR) return {};
  }
}

}  // namespace

void prepare_signals() {
  // An ignored signal never arrives, blocked or not, and being ignored is inherited (nohup).
  for (const int number : {SIGTERM, SIGHUP, SIGUSR1})
    static_cast<void>(std::signal(number, SIG_DFL));
  const sigset_t blocked = signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1});
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
}

void prepare_to_ask() {
  const sigset_t ending = signals({SIGTERM, SIGINT, SIGHUP});
  ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
}

std::optional<int> wait_signal(std::optional<Nanoseconds> limit) {
  return wait_for(signals({SIGTERM, SIGINT, SIGHUP}), limit);
}

Expected<> check_threads(int count) {
  std::promise<void> counted;
  const std::shared_future<void> end = counted.get_future().share();
  std::vector<std::jthread> threads;
  std::string why;
  try {
    for (int i = 0; i < count; ++i) threads.emplace_back([end] { end.wait(); });
  } catch (const std::system_error& error) {
    why = error.what();
  }
  counted.set_value();
  if (why.empty()) return {};
  return fail(
      ErrorCode::kExhausted,
      "this process can have {} more threads, and needs {} ({}): raise the limit of its user "
      "(ulimit -u) or of its unit (TasksMax=)",
      threads.size(), count, why);
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // Where that is refused the limit stays as it was.
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Impatience::Impatience(Nanoseconds patience, int exit_code)
    : watching_([patience, exit_code] {
        // USR1 is our own destructor.
        const auto number = wait_for(signals({SIGTERM, SIGINT, SIGUSR1}), patience);
        if (number == SIGUSR1) return;
        spdlog::warn("{}: leaving without waiting for what is in flight",
                     number ? "asked again" : "draining takes too long");
        ::_exit(exit_code);
      }) {}

Impatience::~Impatience() { ::pthread_kill(watching_.native_handle(), SIGUSR1); }

Expected<> pin_to_cores(const std::vector<int>& cores) {
  if (cores.empty()) return {};
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &wanted);
  // Each thread has its own, and libraries started some before main; those to come have that of the
  // thread that starts them.
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const pid_t id = std::atoi(thread.path().filename().c_str());
    if (::sched_setaffinity(id, sizeof wanted, &wanted) != 0 && errno != ESRCH) {
      return fail(ErrorCode::kInvalidArgument, "cpu: none of these cores may be used here: {}",
                  fmt::join(cores, ","));
    }
  }
  if (error) return tl::unexpected(error_from_errno(error.value(), "cpu: /proc/self/task"));
  // The kernel leaves out those that it does not have.
  const std::vector<int> taken = usable_cores();
  std::vector<int> absent = cores;
  std::erase_if(absent, [&](int core) { return std::ranges::binary_search(taken, core); });
  if (absent.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, "cpu: these cores may not be used here: {}",
              fmt::join(absent, ","));
}

Expected<> end_with_parent() {
  const pid_t parent = ::getppid();
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
    return tl::unexpected(error_from_errno(errno, "asking to end with the parent"));
  }
  if (::getppid() != parent) return fail(ErrorCode::kUnavailable, "the parent has ended");
  return {};
}

Expected<> tell_ready(int fd, const std::string& line) {
  const std::string text = line + "\n";
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(fd, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EBADF) {
      return fail(ErrorCode::kInvalidArgument, "--ready-fd {}: no such descriptor", fd);
    }
    if (written < 0) {
      return tl::unexpected(error_from_errno(errno, fmt::format("--ready-fd {}", fd)));
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fd <= STDERR_FILENO) {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
      ::dup2(nothing, fd);
      ::close(nothing);
    }
  } else {
    ::close(fd);
  }
  return {};
}

}  // namespace pareto::daemon
