#include "tests/bench/onnx_runtime.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/poll.h"

namespace pareto::bench {
namespace {

constexpr std::chrono::minutes kPeerPatience{3};

/// Reads a line of the process. Fails: kUnavailable (it says why it cannot go on).
Expected<nlohmann::json> parse_answer(const std::string& line) {
  nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
  if (!answer.is_object()) {
    return fail(ErrorCode::kUnavailable, "ONNX Runtime's process printed \"{}\"", line);
  }
  if (const auto error = answer.find("error"); error != answer.end()) {
    return fail(ErrorCode::kUnavailable, "ONNX Runtime's process: {}", error->dump());
  }
  return answer;
}

}  // namespace

Expected<std::unique_ptr<OnnxRuntime>> OnnxRuntime::start(const std::filesystem::path& model,
                                                          int threads, const Tensor& input) {
  if (std::error_code error; !std::filesystem::exists(PARETO_PEER_MODULES, error)) {
    return fail(ErrorCode::kUnavailable,
                "ONNX Runtime is not in " PARETO_PEER_MODULES ": ./dev bench peers fetches it");
  }
  PARETO_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("onnx-runtime"));
  PARETO_ASSIGN(const Tensor floats, row_major(input));
  const auto input_file = folder.path() / "input";
  PARETO_TRY(write_file_atomically(input_file, floats.bytes()));
  std::unique_ptr<OnnxRuntime> peer(new OnnxRuntime(std::move(folder)));
  PARETO_TRY(peer->spawn({PARETO_NODE, PARETO_PEER_SCRIPTS "/onnx_runtime.js", PARETO_PEER_MODULES,
                          model, std::to_string(threads), input_file, to_string(input.shape()),
                          peer->folder_.path() / "output"}));
  PARETO_ASSIGN(const std::string line, peer->read_line());
  peer->signal(SIGSTOP);
  PARETO_ASSIGN(const auto ready, parse_answer(line));
  peer->version_ = ready.value("version", "");
  return peer;
}

Expected<> OnnxRuntime::spawn(std::vector<std::string> argv) {
  std::vector<char*> arguments;
  for (std::string& argument : argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return tl::unexpected(error_from_errno(errno, "socketpair"));
  }
  channel_ = FileDescriptor(ends[0]);
  const FileDescriptor theirs(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) return tl::unexpected(error_from_errno(errno, "fork"));
  if (pid_ > 0) return {};
  // A process that is stopped does not see that its stdin has ended.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(theirs.get(), STDIN_FILENO);
  ::dup2(theirs.get(), STDOUT_FILENO);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

OnnxRuntime::~OnnxRuntime() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void OnnxRuntime::signal(int number) const { ::kill(pid_, number); }

Expected<std::string> OnnxRuntime::output() const { return read_file(folder_.path() / "output"); }

Expected<std::vector<Nanoseconds>> OnnxRuntime::run(int count) {
  signal(SIGCONT);
  const std::string order = fmt::format("run {}\n", count);
  if (::send(channel_.get(), order.data(), order.size(), MSG_NOSIGNAL) < 0) {
    return tl::unexpected(error_from_errno(errno, "ONNX Runtime's process"));
  }
  const auto line = read_line();
  signal(SIGSTOP);
  if (!line) return tl::unexpected(line.error());
  PARETO_ASSIGN(const auto answer, parse_answer(*line));
  std::vector<Nanoseconds> times;
  for (const auto& time : answer.value("ns", nlohmann::json::array())) {
    times.emplace_back(time.get<std::int64_t>());
  }
  return times;
}

Expected<std::string> OnnxRuntime::read_line() {
  const Deadline deadline = deadline_after(kPeerPatience);
  while (true) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    std::array<pollfd, 1> polled{{{channel_.get(), POLLIN, 0}}};
    PARETO_TRY(poll_until(polled, deadline));
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(channel_.get(), bytes.data(), bytes.size());
    if (count < 0) return tl::unexpected(error_from_errno(errno, "ONNX Runtime's process"));
    if (count == 0) {
      return fail(ErrorCode::kUnavailable,
                  "ONNX Runtime's process has ended; it was started with \"" PARETO_NODE "\"");
    }
    received_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace pareto::bench
