#include "tests/support/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/base/process_handle.h"

namespace pareto::test {
namespace {

/// Returns the time that long from now, multiplied by PARETO_TEST_PATIENCE if that is set: emulated
/// programs are slow.
Deadline after(std::chrono::seconds limit) {
  const char* patience = std::getenv("PARETO_TEST_PATIENCE");
  return deadline_after(limit * (patience == nullptr ? 1 : std::atoi(patience)));
}

void redirect(const std::string& path, int target) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(fd, target);
  ::close(fd);
}

}  // namespace

std::string programs_folder() {
  const char* other = std::getenv("PARETO_PROGRAMS");
  return other != nullptr ? other : PARETO_BIN_DIR;
}

std::size_t count_of(const std::string& text, const std::string& whole) {
  std::size_t count = 0;
  for (auto at = whole.find(text); at != std::string::npos; at = whole.find(text, at + 1)) ++count;
  return count;
}

Process::Process(std::vector<std::string> argv, std::vector<std::string> environment) {
  std::string pattern = (std::filesystem::temp_directory_path() / "pareto-process.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
  if (argv[0].find('/') == std::string::npos) argv[0] = programs_folder() + "/" + argv[0];
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
  const auto handle = ProcessHandle::open(pid_);
  const bool ended = handle && handle->wait_for_end(after(limit));
  if (!ended) ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended ? exit_code_ : -1;
}

bool Process::wait_for_output(const std::string& text, std::chrono::seconds limit,
                              std::size_t times) {
  const Deadline deadline = after(limit);
  const auto found = [&] {
    return count_of(text, output()) >= times || count_of(text, errors()) >= times;
  };
  const FileDescriptor changed(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ::inotify_add_watch(changed.get(), folder_.c_str(), IN_MODIFY | IN_CREATE);
  const auto handle = ProcessHandle::open(pid_);
  for (bool more = handle.has_value(); more && !found();) {
    const auto ended = handle->wait_for_end(deadline, changed.get());
    more = !ended && ended.error().code == ErrorCode::kClosed;
    char events[4096];
    while (::read(changed.get(), events, sizeof events) > 0) {
    }
  }
  return found();
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
