#include "netem/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "core/base/text.h"

extern char** environ;

namespace pareto::netem {
namespace {

constexpr std::size_t kMaxWords = 4096;

/// All that comes, as far as it is kept, without line ends at its end.
std::string read_words(const FileDescriptor& from) {
  std::string words;
  std::array<char, 512> piece{};
  for (;;) {
    const ssize_t got = ::read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (words.size() < kMaxWords) words.append(piece.data(), static_cast<std::size_t>(got));
  }
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words;
}

}  // namespace

Expected<> run_program(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(error_from_errno(errno, "making a pipe"));
  }
  const FileDescriptor reader(ends[0]);
  FileDescriptor writer(ends[1]);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), STDERR_FILENO);
  pid_t pid = 0;
  const int refused = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused == ENOENT) {
    return fail(ErrorCode::kNotFound, "there is no program \"{}\": install iproute2", arguments[0]);
  }
  if (refused != 0) return tl::unexpected(error_from_errno(refused, "starting " + arguments[0]));
  writer.reset();
  const std::string words = read_words(reader);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::kUnavailable, "{}: {}", join(arguments, " "),
              words.empty() ? fmt::format("ended with status {}", status) : words);
}

}  // namespace pareto::netem
