#include "coordinator/cluster/pipeline_health.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/daemon_client.h"

namespace pareto::cluster {
namespace {

using Answers = std::map<DaemonClient*, std::optional<Expected<DeviceStatus>>>;

constexpr std::string_view kUpstreamLink = "upstream link: ";
constexpr std::string_view kDownstreamLink = "downstream link: ";
/// The words of a link whose peer is silent (core/transport/live_link.h).
constexpr std::string_view kSilentPeer = "no sign of life";

std::ptrdiff_t count_unanswered(const Answers& answers) {
  return std::ranges::count_if(answers, [](const auto& one) { return !one.second; });
}

/// Questions to all devices, each asked once, however many stages it has. Threads: one owner; one
/// of its own for each device.
class Questions {
 public:
  Questions(const Deployment& deployment, std::chrono::milliseconds patience) {
    for (DaemonClient* const device : deployment.devices()) answers_[device];
    unanswered_ = std::ssize(answers_);
    for (auto& [device, answer] : answers_) {
      asking_.emplace_back([this, device = device, &answer = answer, patience] {
        auto status = device->status(patience);
        const std::lock_guard lock(mutex_);
        answer = std::move(status);
        --unanswered_;
        answered_.notify_all();
      });
    }
  }

  /// Waits until all have answered, or so long. Returns what came until then.
  Answers wait_until(TimePoint then) {
    std::unique_lock lock(mutex_);
    answered_.wait_until(lock, then, [this] { return unanswered_ == 0; });
    return answers_;
  }
  /// Waits until more have answered than in `before`, which lacks some.
  Answers wait_for_more(const Answers& before) {
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return unanswered_ < count_unanswered(before); });
    return answers_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable answered_;
  Answers answers_;
  std::ptrdiff_t unanswered_ = 0;
  std::vector<std::jthread> asking_;  // last: they use all of the above
};

/// Asks each device, and waits for all.
Answers ask_all(const Deployment& deployment, std::chrono::milliseconds patience) {
  Questions questions(deployment, patience);
  return questions.wait_until(TimePoint::max());
}

/// Returns the report of a stage. Null: the device has no such stage.
const control::StageReport* report_of(const Deployment& deployment, std::size_t stage,
                                      const DeviceStatus& status) {
  const auto name = deployment.name_on_device(stage);
  const auto found = std::ranges::find_if(status.stages, [&](const control::StageReport& report) {
    return std::pair(report.pipeline, report.stage) == name;
  });
  return found == status.stages.end() ? nullptr : &*found;
}

/// Takes the device's name off its own sentence, which begins with its name and what it was asked.
Error without_name(const DaemonClient& device, Error error) {
  const std::string name = name_and_address(device.config()) + ": ";
  for (const std::string& prefix : {name, std::string("asking for status: ")}) {
    if (error.message.starts_with(prefix)) error.message.erase(0, prefix.size());
  }
  return error;
}

/// Names the neighbour in place of a stage's upstream or downstream link, as people know it.
std::string with_neighbour(const Deployment& deployment, std::size_t stage,
                           const std::string& failure) {
  const auto first_of_its_pipeline = [&](std::size_t number) {
    return number == deployment.devices().size() || deployment.name_on_device(number).second == 0;
  };
  const auto name = [&](std::size_t number) {
    return fmt::format("stage {} on {}", number, deployment.devices()[number]->config().name);
  };
  if (failure.starts_with(kUpstreamLink)) {
    return fmt::format("its link from {}: {}",
                       first_of_its_pipeline(stage) ? "the coordinator" : name(stage - 1),
                       failure.substr(kUpstreamLink.size()));
  }
  if (failure.starts_with(kDownstreamLink)) {
    return fmt::format("its link to {}: {}",
                       first_of_its_pipeline(stage + 1) ? "the coordinator" : name(stage + 1),
                       failure.substr(kDownstreamLink.size()));
  }
  return failure;
}

/// Adds the device of a stage to those that somebody named as silent, with who did, if it has not
/// answered.
using Silent = std::map<DaemonClient*, std::string>;
void add_silent(const Deployment& deployment, const Answers& answers, std::size_t stage,
                const std::string& seen_by, Silent& silent) {
  DaemonClient* const device = deployment.devices()[stage];
  if (!answers.at(device)) silent.emplace(device, seen_by);
}

/// Returns the devices that have not answered, and of which a neighbour on a link sees no sign of
/// life. `seen`: stages that the coordinator sees none of.
Silent silent_devices(const Deployment& deployment, const Answers& answers,
                      const std::vector<std::size_t>& seen) {
  Silent silent;
  for (const std::size_t stage : seen) {
    add_silent(deployment, answers, stage, "the coordinator", silent);
  }
  for (std::size_t i = 0; i < deployment.devices().size(); ++i) {
    const DaemonClient& device = *deployment.devices()[i];
    const auto& answer = answers.at(deployment.devices()[i]);
    const control::StageReport* const report =
        answer && *answer ? report_of(deployment, i, **answer) : nullptr;
    if (report == nullptr || report->failure.find(kSilentPeer) == std::string::npos) continue;
    const auto [pipeline, number] = deployment.name_on_device(i);
    const std::string name = fmt::format("stage {} on {}", i, device.config().name);
    const bool is_last =
        i + 1 == deployment.devices().size() || deployment.name_on_device(i + 1).first != pipeline;
    if (report->failure.starts_with(kUpstreamLink) && number > 0) {
      add_silent(deployment, answers, i - 1, name, silent);
    }
    if (report->failure.starts_with(kDownstreamLink) && !is_last) {
      add_silent(deployment, answers, i + 1, name, silent);
    }
  }
  return silent;
}

/// Asks all devices. Those that are silent on a link are given up sooner: the error says why.
Answers ask_patiently(const Deployment& deployment, std::chrono::milliseconds patience,
                      const std::vector<std::size_t>& seen) {
  const std::chrono::milliseconds confirming = patience / kConfirmingShare;
  Questions questions(deployment, patience);
  Answers answers = questions.wait_until(std::chrono::steady_clock::now() + confirming);
  Silent given_up;
  while (count_unanswered(answers) > 0) {
    for (const auto& [device, by] : silent_devices(deployment, answers, seen)) {
      // It ends the call.
      if (given_up.emplace(device, by).second) device->abandon();
    }
    answers = questions.wait_for_more(answers);
  }
  for (const auto& [device, by] : given_up) {
    answers[device] = fail(ErrorCode::kTimeout,
                           "{} sees no sign of life of it, and it does not "
                           "answer within {:g} s",
                           by, to_seconds(confirming));
  }
  return answers;
}

std::optional<LostStage> look_at(const Deployment& deployment, std::size_t stage,
                                 const Expected<DeviceStatus>& status) {
  const DaemonClient& device = *deployment.devices()[stage];
  LostStage lost{stage, name_and_address(device.config()), {}, true};
  if (!status) {
    lost.why = without_name(device, status.error());
    return lost;
  }
  const control::StageReport* const report = report_of(deployment, stage, *status);
  lost.device_is_lost = false;
  if (report == nullptr) {
    lost.why = {ErrorCode::kUnavailable, "its daemon has closed the stage: it is ending"};
    return lost;
  }
  if (report->state == control::StageState::kFailed) {
    lost.why = {ErrorCode::kClosed, with_neighbour(deployment, stage, report->failure)};
    return lost;
  }
  if (report->state == control::StageState::kClosed ||
      report->state == control::StageState::kDraining) {
    lost.why = {ErrorCode::kClosed,
                fmt::format("the stage is {}: its daemon may be ending", to_string(report->state))};
    return lost;
  }
  return std::nullopt;
}

/// Returns whether the loss follows from a neighbour: a link that its other end closed, or that
/// broke under it, is the consequence of something else.
bool follows_from_neighbour(const LostStage& lost) {
  const std::string& why = lost.why.message;
  return why.find("closed the link") != std::string::npos ||
         why.find("the connection broke") != std::string::npos ||
         why.find("the connection ended") != std::string::npos;
}

/// Keeps those that `is_cause` holds for, if there are any.
template <typename IsCause>
bool keep_causes(std::vector<LostStage>& lost, IsCause is_cause) {
  if (std::ranges::none_of(lost, is_cause)) return false;
  std::erase_if(lost, [&](const LostStage& one) { return !is_cause(one); });
  return true;
}

}  // namespace

std::vector<LostStage> find_lost_stages(const Deployment& deployment,
                                        std::chrono::milliseconds patience,
                                        const std::vector<std::size_t>& silent) {
  Answers answers = ask_patiently(deployment, patience, silent);
  std::vector<LostStage> lost;
  for (std::size_t i = 0; i < deployment.devices().size(); ++i) {
    if (auto one = look_at(deployment, i, *answers[deployment.devices()[i]])) {
      lost.push_back(*std::move(one));
    }
  }
  const auto gone = [](const LostStage& one) { return one.device_is_lost; };
  const auto ending = [](const LostStage& one) { return one.why.code == ErrorCode::kUnavailable; };
  if (keep_causes(lost, gone) || keep_causes(lost, ending)) return lost;
  keep_causes(lost, [](const LostStage& one) { return !follows_from_neighbour(one); });
  return lost;
}

Error error_of(const std::vector<LostStage>& lost) {
  std::string text;
  for (const LostStage& one : lost) {
    text += fmt::format("{}stage {} on {}: {}", text.empty() ? "" : "; ", one.stage, one.device,
                        one.why.message);
  }
  return {lost.front().why.code, std::move(text)};
}

Error why_lost(Deployment& deployment, Error seen, std::chrono::milliseconds patience) {
  const std::vector<LostStage> lost = find_lost_stages(deployment, patience);
  if (lost.empty()) return seen;
  for (const LostStage& stage : lost) {
    if (stage.device_is_lost) deployment.devices()[stage.stage]->abandon();
  }
  deployment.abandon();
  const Error why = error_of(lost);
  return {why.code, fmt::format("{}; seen as: {}", why.message, seen.message)};
}

std::string where_requests_wait(const Deployment& deployment, std::chrono::milliseconds patience) {
  if (deployment.turn() > 1) return {};
  Answers answers = ask_all(deployment, patience);
  std::string where;
  for (std::size_t i = 0; i < deployment.devices().size(); ++i) {
    const auto& status = *answers[deployment.devices()[i]];
    const control::StageReport* const report = status ? report_of(deployment, i, *status) : nullptr;
    if (report == nullptr) return {};
    if (report->in_flight == 0) continue;
    // Requests keep their order: the oldest has come farthest.
    where = fmt::format("; stage {} on {} has taken it and not sent it on", i,
                        deployment.devices()[i]->config().name);
  }
  return where;
}

}  // namespace pareto::cluster
