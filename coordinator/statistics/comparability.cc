#include "coordinator/statistics/comparability.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "coordinator/results/run_options.h"
#include "coordinator/statistics/front.h"
#include "core/base/text.h"

namespace pareto::statistics {
namespace {

// A loop that took this much longer is worth a word; less is seen between any two runs.
constexpr double kMachineTolerance = 0.02;

std::string codec_of(const results::TrialRecord& trial) {
  return trial.auto_codec ? "auto" : trial.codec;
}

std::string window_of(const plan::Plan& plan) {
  return plan.window == 0 ? "auto" : std::to_string(plan.window);
}

/// The differences, each once however many plans it concerns.
class Differences {
 public:
  void compare(const std::string& what, const std::string& a, const std::string& b) {
    if (a == b) return;
    std::string sentence = fmt::format("{}: {} in A, {} in B", what, a, b);
    if (seen_.insert(sentence).second) sentences_.push_back(std::move(sentence));
  }
  void say(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::set<std::string> seen_;
  std::vector<std::string> sentences_;
};

void compare_devices(const results::RunRecord& a, const results::RunRecord& b,
                     Differences& differences) {
  for (const results::DeviceRecord& device : a.devices) {
    const auto other = std::ranges::find(b.devices, device.name, &results::DeviceRecord::name);
    if (other == b.devices.end()) continue;
    const std::string& name = device.name;
    differences.compare("cpu of " + name, device.cpu, other->cpu);
    differences.compare("memory of " + name, format_bytes(device.memory_bytes),
                        format_bytes(other->memory_bytes));
    differences.compare("LibTorch of " + name, device.torch_version, other->torch_version);
    differences.compare("threads of " + name, std::to_string(device.threads),
                        std::to_string(other->threads));
    // Earlier versions did not keep the others.
    if (!device.runs_on.empty() && !other->runs_on.empty()) {
      differences.compare("compute device of " + name, device.runs_on, other->runs_on);
    }
    if (device.cores > 0 && other->cores > 0) {
      differences.compare("cores of " + name, std::to_string(device.cores),
                          std::to_string(other->cores));
    }
  }
}

/// Returns what each network was, by its name, if that was kept.
std::map<std::string, std::string> networks_of(const results::RunRecord& run) {
  std::map<std::string, std::string> networks;
  const auto options = results::run_options(run);
  if (!options.contains("networks")) return networks;
  for (const auto& [name, text] : options["networks"].items()) {
    if (text.is_string()) networks[name] = text.get<std::string>();
  }
  return networks;
}

/// Returns the beginning of a text on one line: a trace is long.
std::string on_one_line(std::string text) {
  constexpr std::size_t kLongest = 160;
  std::ranges::replace(text, '\n', ' ');
  if (text.ends_with(' ')) text.pop_back();
  return text.size() > kLongest ? text.substr(0, kLongest) + " …" : text;
}

/// Plans pair by the name of their network, which several files may have.
void compare_networks(const results::RunRecord& a, const results::RunRecord& b,
                      Differences& differences) {
  const auto others = networks_of(b);
  for (const auto& [name, text] : networks_of(a)) {
    const auto other = others.find(name);
    if (other == others.end() || other->second == text) continue;
    differences.say(fmt::format("network {}: {} in A, {} in B", name, on_one_line(text),
                                on_one_line(other->second)));
  }
}

/// Sizes of the inputs do not show in a plan.
std::uint64_t input_bytes(const results::TrialRecord& trial) {
  return trial.links.empty() ? 0 : trial.links.front().bytes;
}

Expected<> compare_plans(const results::RunRecord& a, const results::RunRecord& b,
                         Differences& differences) {
  for (const results::TrialRecord& trial : a.trials) {
    const results::TrialRecord* const other = find_plan(b, trial);
    if (other == nullptr) continue;
    if (is_measured(trial) && is_measured(*other) && input_bytes(trial) != input_bytes(*other)) {
      return fail(ErrorCode::kInvalidArgument,
                  "runs {} and {} cannot be compared: the inputs of {} are {} in one and {} in the "
                  "other",
                  a.id, b.id, trial.id, format_bytes(input_bytes(trial)),
                  format_bytes(input_bytes(*other)));
    }
    differences.compare("engine", trial.plan.engine_text(), other->plan.engine_text());
    differences.compare("precision", trial.plan.precision_text(), other->plan.precision_text());
    differences.compare("threads", trial.plan.threads_text(), other->plan.threads_text());
    differences.compare("schedule", trial.plan.schedule_text(), other->plan.schedule_text());
    differences.compare("window asked for", window_of(trial.plan), window_of(other->plan));
    if (trial.auto_codec) {
      differences.compare("codec chosen for " + trial.id, trial.codec, other->codec);
    }
  }
  return {};
}

std::vector<RoundFigure> loop_figures(const results::RunRecord& run) {
  std::vector<RoundFigure> figures;
  for (const results::PassRecord& pass : run.passes) {
    if (pass.loop_ms > 0) figures.push_back({pass.round, std::log(pass.loop_ms), 0});
  }
  return figures;
}

}  // namespace

bool same_plan(const results::TrialRecord& a, const results::TrialRecord& b) {
  const bool may_be_called_so = a.name == b.name || a.name.empty() || b.name.empty();
  return may_be_called_so && a.plan.splits == b.plan.splits &&
         a.plan.device_names() == b.plan.device_names() && a.transport == b.transport &&
         codec_of(a) == codec_of(b) && a.batch == b.batch &&
         a.plan.micro_batch == b.plan.micro_batch && a.condition == b.condition;
}

const results::TrialRecord* find_plan(const results::RunRecord& run,
                                      const results::TrialRecord& like) {
  const results::TrialRecord* found = nullptr;
  for (const results::TrialRecord& trial : run.trials) {
    if (!same_plan(trial, like)) continue;
    if (trial.id == like.id) return &trial;
    if (found == nullptr) found = &trial;
  }
  return found;
}

Ratio machine_ratio(const results::RunRecord& a, const results::RunRecord& b) {
  return unpaired_ratio(loop_figures(a), loop_figures(b));
}

Expected<std::vector<std::string>> compare_settings(const results::RunRecord& a,
                                                    const results::RunRecord& b) {
  if (a.model_digest != b.model_digest) {
    return fail(ErrorCode::kInvalidArgument,
                "runs {} and {} cannot be compared: they measured other models, {} and {}", a.id,
                b.id, a.model, b.model == a.model ? "another of that name" : b.model);
  }
  Differences differences;
  PARETO_TRY(compare_plans(a, b, differences));
  compare_devices(a, b, differences);
  compare_networks(a, b, differences);
  const Ratio machine = machine_ratio(a, b);
  if (machine.ci975 && std::abs(std::log(machine.value)) > kMachineTolerance &&
      (machine.ci975->low > 1 || machine.ci975->high < 1)) {
    differences.say(fmt::format(
        "the machine: the fixed loop next to the reference plan, which only computes, took {:.3f} "
        "[{:.3f}, {:.3f}] times as long in B",
        machine.value, machine.ci975->low, machine.ci975->high));
  }
  for (const results::RunRecord* run : {&a, &b}) {
    if (run->finished.empty()) differences.say("run " + run->id + " is not finished");
  }
  return differences.take();
}

}  // namespace pareto::statistics
