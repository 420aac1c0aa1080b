#include "client/report/child_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "coordinator/cluster/own_group.h"
#include "core/base/file.h"
#include "core/base/process_handle.h"

extern char** environ;

namespace pareto::report {
namespace {

constexpr std::size_t kLastWords = 600;
/// The time for processes that were killed to be gone. Where nobody reaps orphans (a container
/// without an init) they never are.
constexpr std::chrono::seconds kGroupPatience{2};
constexpr std::chrono::milliseconds kGroupInterval{5};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Ours, but for its home.
std::vector<std::string> environment_with(const std::filesystem::path& home) {
  std::vector<std::string> result{"HOME=" + home.string()};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).substr(0, 5) != "HOME=") result.emplace_back(*variable);
  }
  return result;
}

/// Starts the process, in a group of its own. Fails: kNotFound (no such program), as errno says.
Expected<pid_t> start(const ChildProgram& child) {
  std::vector<std::string> arguments = child.arguments;
  arguments.insert(arguments.begin(), child.program);
  std::vector<std::string> environment = environment_with(child.folder);
  const std::string input = child.input.string();
  const std::string output = (child.folder / "stdout").string();
  const std::string errors = (child.folder / "stderr").string();
  constexpr int kFresh = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), kFresh, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), kFresh, 0600);
  // It may have many processes; the group ends them together.
  const cluster::OwnGroup attributes;
  pid_t pid = 0;
  const int result = posix_spawnp(&pid, child.program.c_str(), &actions, attributes.get(),
                                  pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (result != 0) return tl::unexpected(error_from_errno(result, "starting " + child.program));
  return pid;
}

/// Returns when it has ended. Fails: kTimeout, kClosed (stopped), as errno says.
Expected<> wait_for_end(pid_t pid, const ChildProgram& child) {
  PARETO_ASSIGN(const ProcessHandle process, ProcessHandle::open(pid));
  auto ended = process.wait_for_end(deadline_after(child.patience), child.stop);
  if (ended || ended.error().code != ErrorCode::kTimeout) return ended;
  return fail(ErrorCode::kTimeout, "{} did not end in {} s", child.program, child.patience.count());
}

/// Ends all processes of its group that are left; returns its wait status.
int end_group(pid_t pid) {
  ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  // The others are no children of ours, and may write into the folder until they are gone.
  const TimePoint deadline = std::chrono::steady_clock::now() + kGroupPatience;
  while ((::kill(-pid, 0) == 0 || errno != ESRCH) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kGroupInterval);
  }
  return status;
}

/// Waits for the process and returns its exit code, or 128 + the signal that ended it; its group is
/// ended then. Fails: as wait_for_end does.
Expected<int> wait_for(pid_t pid, const ChildProgram& child) {
  const auto ended = wait_for_end(pid, child);
  const int status = end_group(pid);
  PARETO_TRY(ended);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Expected<int> run_child(const ChildProgram& child) {
  PARETO_ASSIGN(const pid_t pid, start(child));
  return wait_for(pid, child);
}

std::string last_words(const std::filesystem::path& folder) {
  std::string words = read_file(folder / "stderr").value_or("");
  return words.size() > kLastWords ? "…" + words.substr(words.size() - kLastWords) : words;
}

}  // namespace pareto::report
