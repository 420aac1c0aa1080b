#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace pareto::test {
namespace {

using Clock = std::chrono::steady_clock;

/// That time from now, many times over where PARETO_TEST_PATIENCE says how many: emulated programs are slow.
Clock::time_point after(std::chrono::seconds limit) {
  const char* patience = std::getenv("PARETO_TEST_PATIENCE");
  return Clock::now() + limit * (patience == nullptr ? 1 : std::atoi(patience));
}

int remaining_ms(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

void redirect(const std::string& path, int target) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(fd, target);
  ::close(fd);
}

}  // namespace

Process::Process(std::vector<std::string> argv, std::vector<std::string> environment) {
  std::string pattern = (std::filesystem::temp_directory_path() / "pareto-process.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
  if (argv[0].find('/') == std::string::npos) argv[0] = std::string(PARETO_BIN_DIR) + "/" + argv[0];
  std::vector<char*> arguments;
  for (std::string& argument : argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const std::string out = folder_ + "/out";
  const std::string err = folder_ + "/err";
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    redirect(out, 1);
    redirect(err, 2);
    for (std::string& variable : environment) ::putenv(variable.data());
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
}

Process::~Process() {
  if (exit_code_ < 0 && pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Process::signal(int number) const { ::kill(pid_, number); }

int Process::wait(std::chrono::seconds limit) {
  if (exit_code_ >= 0) return exit_code_;
  // A pidfd becomes readable when the process ends: no polling.
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd watched{fd, POLLIN, 0};
  const bool ended = ::poll(&watched, 1, remaining_ms(after(limit))) > 0;
  ::close(fd);
  if (!ended) ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended ? exit_code_ : -1;
}

bool Process::wait_for_output(const std::string& text, std::chrono::seconds limit) {
  const auto deadline = after(limit);
  const auto found = [&] {
    return output().find(text) != std::string::npos || errors().find(text) != std::string::npos;
  };
  const int notify = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ::inotify_add_watch(notify, folder_.c_str(), IN_MODIFY | IN_CREATE);
  const int child = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  bool there = found();
  while (!there && remaining_ms(deadline) > 0) {
    pollfd watched[2]{{notify, POLLIN, 0}, {child, POLLIN, 0}};
    if (::poll(watched, 2, remaining_ms(deadline)) <= 0) break;
    char events[4096];
    while (::read(notify, events, sizeof events) > 0) {
    }
    there = found();
    if ((watched[1].revents & POLLIN) != 0) break;
  }
  ::close(child);
  ::close(notify);
  return there;
}

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Process::output() const { return slurp(folder_ + "/out"); }
std::string Process::errors() const { return slurp(folder_ + "/err"); }

Finished run(std::vector<std::string> argv, std::vector<std::string> environment,
             std::chrono::seconds limit) {
  Process process(std::move(argv), std::move(environment));
  const int code = process.wait(limit);
  return {code, process.output(), process.errors()};
}

}  // namespace pareto::test
