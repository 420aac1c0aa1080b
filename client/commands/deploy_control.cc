#include "client/commands/deploy_control.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "client/commands/control_lines.h"
#include "client/commands/runtime_folder.h"
#include "core/base/json_integer.h"
#include "core/base/json_text.h"
#include "core/base/poll.h"

namespace pareto::client::commands {
namespace {

namespace fs = std::filesystem;
using cluster::LineChannel;
using ControlJson = nlohmann::json;

constexpr std::string_view kControlPrefix = "deploy-";
constexpr std::string_view kControlSuffix = ".sock";

nlohmann::ordered_json error_line(const Error& error) {
  return {{"error", error.message}, {"code", to_string(error.code)}};
}

/// Says a line; the other side may have left.
void say(const LineChannel& peer, const nlohmann::ordered_json& line) {
  static_cast<void>(peer.send(dump(line)));
}

/// Returns the next line. Fails: as LineChannel::receive(); kClosed.
Expected<std::string> line_from(LineChannel& peer, Deadline deadline, int stop) {
  PARETO_ASSIGN(std::optional<std::string> line, peer.receive(deadline, stop));
  if (!line) return fail(ErrorCode::kClosed, "the other side hung up");
  return *std::move(line);
}

/// Asks once. Fails: as sockets do; kCorrupt; with the error of the other side.
Expected<ControlJson> ask_once(const fs::path& file, const ControlJson& question, Deadline deadline,
                               int wake) {
  PARETO_ASSIGN(LineChannel peer, cluster::connect_at(file, kMostControlBytes));
  PARETO_TRY(peer.send(dump(question)));
  PARETO_ASSIGN(const std::string line, line_from(peer, deadline, wake));
  return control_answer(line);
}

}  // namespace

fs::path control_file(const fs::path& folder, int pid) {
  return folder / fmt::format("{}{}{}", kControlPrefix, pid, kControlSuffix);
}

Expected<std::unique_ptr<DeployControl>> DeployControl::open(const fs::path& file,
                                                             ControlledDeployment& deployment) {
  PARETO_TRY(make_private_folder(file.parent_path()));
  PARETO_ASSIGN(FileDescriptor listener, cluster::listen_at(file));
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC));
  return std::unique_ptr<DeployControl>(
      new DeployControl(file, std::move(listener), std::move(wake), deployment));
}

DeployControl::DeployControl(fs::path file, FileDescriptor listener, FileDescriptor wake,
                             ControlledDeployment& deployment)
    : file_(std::move(file)),
      listener_(std::move(listener)),
      wake_(std::move(wake)),
      deployment_(deployment),
      serving_([this] { serve(); }) {}

DeployControl::~DeployControl() {
  const std::uint64_t once = 1;
  static_cast<void>(!::write(wake_.get(), &once, sizeof once));
  ::unlink(file_.c_str());
}

void DeployControl::serve() {
  for (;;) {
    std::array<pollfd, 2> polled{{{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    if (!poll_until(polled, std::nullopt) || polled[1].revents != 0) return;
    if (auto peer = cluster::accept_from(listener_, kMostControlBytes)) answer(*std::move(peer));
  }
}

void DeployControl::answer(LineChannel peer) {
  const auto line = line_from(peer, deadline_after(kControlPatience), wake_.get());
  if (!line) return say(peer, error_line(line.error()));
  auto question = object_in(*line);
  if (!question) return say(peer, error_line(question.error()));
  const std::string asked = text_at(*question, "ask");
  if (asked == "describe") return say(peer, deployment_.describe());
  if (asked == "resplit") return begin_resplit(std::move(peer), *std::move(question));
  say(peer,
      error_line({ErrorCode::kInvalidArgument, "\"ask\" is to be \"describe\" or \"resplit\""}));
}

void DeployControl::begin_resplit(LineChannel peer, ControlJson question) {
  if (at_work_.exchange(true)) {
    return say(peer, error_line({ErrorCode::kExhausted, "another change is under way"}));
  }
  resplitting_ =
      std::jthread([this, peer = std::move(peer), question = std::move(question)]() mutable {
        const auto done = deployment_.resplit(question);
        at_work_ = false;
        say(peer, done ? nlohmann::ordered_json{{"done", *done}} : error_line(done.error()));
      });
}

FoundDeployments find_deployments(const fs::path& folder) {
  FoundDeployments found;
  std::error_code absent;
  for (fs::directory_iterator entry(folder, absent), end; !absent && entry != end;
       entry.increment(absent)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(kControlPrefix) || !name.ends_with(kControlSuffix)) continue;
    auto description = ask_once(entry->path(), {{"ask", "describe"}},
                                deadline_after(kControlPatience), /*wake=*/-1);
    // One that was killed left its file, at which nobody listens.
    if (description) {
      found.answering.push_back({entry->path(), *std::move(description)});
    } else if (description.error().code == ErrorCode::kTimeout) {
      found.silent.push_back(entry->path());
    }
  }
  std::ranges::sort(found.answering, {}, [](const FoundDeployment& one) {
    return integer_in<std::int64_t>(one.description.value("pid", ControlJson())).value_or(0);
  });
  return found;
}

Expected<ControlJson> ask_to_resplit(const fs::path& file, const ControlJson& question, int stop) {
  PARETO_ASSIGN(ControlJson answer, ask_once(file, question, std::nullopt, stop));
  if (!answer.contains("done") || !answer["done"].is_object()) {
    return fail(ErrorCode::kCorrupt, "{}: an answer that nobody knows", file.string());
  }
  return answer["done"];
}

}  // namespace pareto::client::commands
