#include "netem/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "core/base/text.h"

extern char** environ;

namespace pareto::netem {
namespace {

constexpr std::size_t kMaxWords = 4096;
constexpr std::size_t kMaxOutput = 1 << 20;

struct Pipe {
  FileDescriptor reader;
  FileDescriptor writer;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(error_from_errno(errno, "making a pipe"));
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// The output of a program, as far as it is kept, taken in as it comes: a full pipe would stop it.
struct Written {
  std::string text;
  std::size_t most;
  bool more = false;  ///< true if there is more than is kept

  /// Takes what has come. False: there will be nothing more.
  bool take(const FileDescriptor& from) {
    std::array<char, 4096> piece{};
    const ssize_t got = ::read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    const std::size_t kept = std::min(static_cast<std::size_t>(got), most - text.size());
    text.append(piece.data(), kept);
    more = more || kept < static_cast<std::size_t>(got);
    return true;
  }
};

/// Reads until the program has closed both.
void read_both(const FileDescriptor& first, Written& first_text, const FileDescriptor& second,
               Written& second_text) {
  std::array<pollfd, 2> polled{{{first.get(), POLLIN, 0}, {second.get(), POLLIN, 0}}};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0 && !first_text.take(first)) polled[0].fd = -1;
    if (polled[1].revents != 0 && !second_text.take(second)) polled[1].fd = -1;
  }
}

}  // namespace

Expected<> run_program(const std::vector<std::string>& arguments) {
  PARETO_TRY(run_program_for_output(arguments));
  return {};
}

Expected<std::string> run_program_for_output(const std::vector<std::string>& arguments) {
  PARETO_ASSIGN(Pipe out, make_pipe());
  PARETO_ASSIGN(Pipe err, make_pipe());
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.writer.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.writer.get(), STDERR_FILENO);
  pid_t pid = 0;
  const int refused = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (refused == ENOENT) {
    return fail(ErrorCode::kUnavailable, "there is no program \"{}\": install iproute2",
                arguments[0]);
  }
  if (refused != 0) return tl::unexpected(error_from_errno(refused, "starting " + arguments[0]));
  out.writer.reset();
  err.writer.reset();
  Written output{{}, kMaxOutput};
  Written words{{}, kMaxWords};
  read_both(out.reader, output, err.reader, words);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    while (!words.text.empty() && words.text.back() == '\n') words.text.pop_back();
    return fail(ErrorCode::kUnavailable, "{}: {}", join(arguments, " "),
                words.text.empty() ? fmt::format("ended with status {}", status) : words.text);
  }
  if (output.more) return fail(ErrorCode::kExhausted, "{} prints too much", join(arguments, " "));
  return std::move(output.text);
}

}  // namespace pareto::netem
