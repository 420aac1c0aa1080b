#include "client/commands/mode_flag.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "coordinator/modes/fallback.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

constexpr const char* kInterpretMode = "interpret";
constexpr const char* kEagerMode = "eager";
constexpr const char* kOptimisedMode = "optimised";
constexpr const char* kReferenceEngine = "plain";

std::string fallback_of(const control::ShardReport& shard) {
  std::vector<modes::Tried> tried;
  for (const control::TriedEngine& one : shard.timings) tried.push_back({one.engine, one.failure});
  return modes::fallback_text(shard.engine, shard.precision_reason, tried);
}

/// Returns "onednn 8.71 ms, plain 45.2 ms": what was tried and worked, the fastest first.
std::string tried_text(std::vector<control::TriedEngine> timings) {
  std::erase_if(timings, [](const control::TriedEngine& one) {
    return !one.failure.empty() || one.best.count() <= 0 || one.best == Nanoseconds::max();
  });
  std::ranges::sort(timings, {}, &control::TriedEngine::best);
  std::vector<std::string> parts;
  for (const control::TriedEngine& one : timings) {
    parts.push_back(fmt::format("{}{} {:.3g} ms", one.engine,
                                one.precision == "bf16" ? " bf16" : "", to_milliseconds(one.best)));
  }
  return join(parts);
}

}  // namespace

void ModeFlag::add_to(CLI::App& app) {
  const Heading heading(app, "Computing");
  set_value(app.add_option(
                "--mode", mode_,
                "way in which the model computes: optimised, by the engine of --engine; eager, by "
                "the plain engine; interpret, operator by operator in this process, each "
                "value compared with the whole model's, and the first that differs named"),
            "NAME", {kOptimisedMode, kEagerMode, kInterpretMode})
      ->capture_default_str();
}

Expected<Mode> ModeFlag::read(RunnerFlags& runner) const {
  if (mode_ == kOptimisedMode) return Mode::kOptimised;
  if (mode_ != kEagerMode && mode_ != kInterpretMode) {
    const std::vector<std::string> names{kOptimisedMode, kEagerMode, kInterpretMode};
    return fail(ErrorCode::kInvalidArgument, "--mode {}: no such mode{}; there are {}", mode_,
                did_you_mean(mode_, names), join(names));
  }
  if (runner.engine != "auto" && runner.engine != kReferenceEngine) {
    return fail(ErrorCode::kInvalidArgument,
                "--mode {}: it computes by the engine {}, and not {}: leave --engine out", mode_,
                kReferenceEngine, runner.engine);
  }
  if (runner.precision != "fp32") {
    return fail(ErrorCode::kInvalidArgument,
                "--mode {}: it computes in the model's own precision: leave --precision {} out",
                mode_, runner.precision);
  }
  if (mode_ == kInterpretMode && runner.schedule != plan::kSequential) {
    return fail(ErrorCode::kInvalidArgument,
                "--mode {}: one operator runs after the other: leave --schedule {} out", mode_,
                runner.schedule);
  }
  runner.engine = kReferenceEngine;
  return mode_ == kEagerMode ? Mode::kEager : Mode::kInterpret;
}

std::string start_text(const std::string& mode, const sweep::RunStart& start) {
  std::string text = fmt::format("mode        {}\n", mode);
  text += fmt::format("warm-up     {:.0f} ms to load and open; first request {:.2f} ms{}\n",
                      to_milliseconds(start.open), to_milliseconds(start.first_request),
                      start.warm_up_requests > 0
                          ? fmt::format(", then {} that do not count, the last {:.2f} ms",
                                        start.warm_up_requests, to_milliseconds(start.last_warm_up))
                          : "");
  for (const sweep::StageStart& stage : start.stages) {
    if (const std::string tried = tried_text(stage.shard.timings); !tried.empty()) {
      text += fmt::format("engines     {}: {}\n", stage.device, tried);
    }
    if (const std::string why = fallback_of(stage.shard); !why.empty()) {
      text += fmt::format("fallback    {}: {}\n", stage.device, why);
    }
  }
  return text;
}

nlohmann::ordered_json start_json(const std::string& mode, const sweep::RunStart& start) {
  using Document = nlohmann::ordered_json;
  Document stages = Document::array();
  for (const sweep::StageStart& stage : start.stages) {
    Document tried = Document::array();
    for (const control::TriedEngine& one : stage.shard.timings) {
      const bool is_timed = one.failure.empty() && one.best != Nanoseconds::max();
      tried.push_back({{"engine", one.engine},
                       {"precision", one.precision},
                       {"best_ms", is_timed ? Document(to_milliseconds(one.best)) : Document()},
                       {"failure", one.failure}});
    }
    stages.push_back({{"device", stage.device},
                      {"engine", stage.shard.engine},
                      {"fallback", fallback_of(stage.shard)},
                      {"tried", std::move(tried)}});
  }
  return {{"mode", mode},
          {"open_ms", to_milliseconds(start.open)},
          {"first_request_ms", to_milliseconds(start.first_request)},
          {"warm_up_requests", start.warm_up_requests},
          {"stages", std::move(stages)}};
}

}  // namespace pareto::client::commands
