#include "client/commands/run_report.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "client/commands/mode_flag.h"
#include "client/report/plan_text.h"
#include "coordinator/results/record_json.h"
#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/base/text.h"

namespace pareto::client::commands {

std::string run_json(const std::string& mode, const sweep::RunOnceResult& result) {
  auto outputs = nlohmann::ordered_json::array();
  for (const Value& value : result.outputs) outputs.push_back(describe(value));
  const nlohmann::ordered_json json{{"trial", to_json(result.figures)},
                                    {"start", start_json(mode, result.start)},
                                    {"outputs", outputs}};
  return dump(json, 2) + "\n";
}

std::string run_text(const std::string& mode, const sweep::RunOnceResult& result) {
  const results::TrialRecord& trial = result.figures;
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < trial.plan.stages.size(); ++i) {
    devices.push_back(fmt::format("{} {}", trial.plan.stages[i].device,
                                  to_string(trial.plan.operators_of(i).own)));
  }
  std::string text = fmt::format(
      "plan        {}{} over {}\n",
      trial.plan.replicated ? join(devices, " and ") + " in turns" : join(devices, " -> "),
      trial.plan.splits.empty() ? "" : ", " + join(trial.plan.splits, "+"), report::link_of(trial));
  text += start_text(mode, result.start);
  text += fmt::format("latency     {:.2f} ms p50, {:.2f} ms p90 (window {}, {}, batch {})\n",
                      trial.latency.p50_ms, trial.latency.p90_ms, trial.latency.window,
                      counted(trial.latency.samples, "request"), trial.plan.batch);
  text += fmt::format("            {}\n", report::time_split_text(trial.time_split));
  text +=
      fmt::format("throughput  {} samples/s (window {})\n",
                  report::format_figure(trial.throughput.samples_per_s), trial.throughput.window);
  for (const results::StageFigures& stage : trial.stages) {
    text += fmt::format("stage       {}: {:.2f} ms compute, engine {}, {}{}{}, {} of weights\n",
                        stage.device, stage.compute_p50_ms, stage.engine, stage.precision,
                        stage.precision_reason.empty() ? "" : " (" + stage.precision_reason + ")",
                        report::schedule_text(stage), format_bytes(stage.weight_bytes));
  }
  if (const auto& error = trial.output_error) {
    text += fmt::format(
        "error       {:.1e} largest, {:.1e} mean, of the largest output; top-1 agrees for {:.0f} "
        "%\n",
        error->max, error->mean, error->top1_agreement * 100);
  }
  for (const Value& value : result.outputs) text += "output      " + describe(value) + "\n";
  return text;
}

}  // namespace pareto::client::commands
