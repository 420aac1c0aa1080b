#include "coordinator/cluster/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "coordinator/cluster/own_group.h"
#include "core/base/file.h"
#include "core/base/poll.h"
#include "core/base/process_handle.h"

extern char** environ;

namespace pareto::cluster {
namespace {

// Where the child finds its end of the ready pipe.
constexpr int kReadyFd = 3;
constexpr std::chrono::seconds kLongestEnding{5};
constexpr std::size_t kLastWords = 600;
constexpr std::size_t kMaxReadyLine = 4096;

void wait_for_end(pid_t pid) {
  const auto process = ProcessHandle::open(pid);
  if (!process || !process->wait_for_end(deadline_after(kLongestEnding))) kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Expected<ChildProcess> ChildProcess::start(const std::filesystem::path& program,
                                           std::vector<std::string> arguments,
                                           const std::filesystem::path& log) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    return tl::unexpected(error_from_errno(errno, "making a pipe"));
  }
  arguments.insert(arguments.begin(), program.string());
  arguments.insert(arguments.end(), {"--ready-fd", std::to_string(kReadyFd)});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  // The pipe's ends must not be the number the child gets: dup2 onto itself would keep
  // close-on-exec.
  const int write_end = fcntl(pipe_fds[1], F_DUPFD_CLOEXEC, 10);
  close(pipe_fds[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, write_end, kReadyFd);
  // A group of its own: Ctrl-C in the terminal is for the coordinator, which then ends its daemons
  // in order.
  const OwnGroup attributes;
  pid_t pid = 0;
  const int result =
      posix_spawn(&pid, program.c_str(), &actions, attributes.get(), argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(write_end);
  if (result != 0) {
    close(pipe_fds[0]);
    Error error = error_from_errno(result, "starting " + program.string());
    // The environment lacks it: no name that was given is wrong.
    if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kUnavailable;
    return tl::unexpected(std::move(error));
  }
  return ChildProcess(pid, pipe_fds[0], log);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      asked_to_end_(other.asked_to_end_),
      ready_fd_(std::exchange(other.ready_fd_, -1)),
      log_(std::move(other.log_)) {}

ChildProcess::~ChildProcess() {
  if (ready_fd_ >= 0) close(ready_fd_);
  if (pid_ <= 0) return;
  ask_to_end();
  wait_for_end(pid_);
}

void ChildProcess::ask_to_end() {
  // Only once: a second SIGTERM tells a daemon not to drain.
  if (!std::exchange(asked_to_end_, true)) kill(pid_, SIGTERM);
}

void ChildProcess::leave_running() { pid_ = 0; }

Expected<std::string> ChildProcess::wait_ready(Deadline deadline) {
  std::string line;
  while (line.size() < kMaxReadyLine) {
    pollfd ready{ready_fd_, POLLIN, 0};
    if (!poll_until({&ready, 1}, deadline)) {
      return fail(ErrorCode::kTimeout, "it did not become ready in time{}", last_words());
    }
    char buffer[512];
    const ssize_t count = read(ready_fd_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return fail(ErrorCode::kUnavailable, "it ended before it was ready{}", last_words());
    }
    line.append(buffer, static_cast<std::size_t>(count));
    if (const std::size_t end = line.find('\n'); end != std::string::npos) {
      return line.substr(0, end);
    }
  }
  return fail(ErrorCode::kCorrupt, "its ready line is longer than {} bytes", kMaxReadyLine);
}

std::string ChildProcess::last_words() const {
  auto text = read_file(log_);
  if (!text || text->empty()) return "";
  while (!text->empty() && text->back() == '\n') text->pop_back();
  if (text->size() > kLastWords) *text = "…" + text->substr(text->size() - kLastWords);
  return "; it said: " + *text;
}

}  // namespace pareto::cluster
