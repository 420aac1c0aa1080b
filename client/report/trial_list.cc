#include "client/report/trial_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "coordinator/results/varied_settings.h"
#include "core/base/text.h"

namespace pareto::report {

std::string trial_list(const results::RunRecord& run, const ReportStyle& style) {
  const auto batched = [](const results::TrialRecord& trial) { return trial.batch != 1; };
  const auto elsewhere = [](const results::TrialRecord& trial) {
    return trial.condition != "none";
  };
  const bool any_batch = std::ranges::any_of(run.trials, batched);
  const bool any_network = std::ranges::any_of(run.trials, elsewhere);
  std::vector<TextColumn> columns{
      {"plan"}, {"devices"}, {"transport"}, {"boundary", Align::kRight, 1}};
  const auto predicted = [](const results::TrialRecord& trial) {
    return trial.prediction.has_value();
  };
  const bool any_prediction = std::ranges::any_of(run.trials, predicted);
  if (any_prediction) {
    columns.push_back({"ms", Align::kRight});
    columns.push_back({"samples/s", Align::kRight});
  }
  const plan::VariedSettings varied = results::varied_settings(run);
  for (const std::string& name : varied.names()) columns.push_back({name});
  if (any_batch) columns.push_back({"batch", Align::kRight});
  if (any_network) columns.push_back({"network"});
  TextTable table(std::move(columns));
  std::string failures;
  for (const results::TrialRecord& trial : run.trials) {
    std::vector<std::string> cells{
        plan_name(trial), join(trial.plan.device_names(), trial.plan.replicated ? " | " : " > "),
        link_of(trial), trial.split ? format_bytes(trial.split->boundary_bytes) : "-"};
    if (any_prediction) {
      const auto& prediction = trial.prediction;
      cells.push_back(prediction ? format_figure(prediction->latency_ms) : "-");
      cells.push_back(prediction ? format_figure(prediction->samples_per_s) : "-");
    }
    for (std::string& text : varied.texts(trial.plan)) cells.push_back(std::move(text));
    if (any_batch) cells.push_back(fmt::format("{}", trial.batch));
    if (any_network) cells.push_back(trial.condition);
    const bool fails = trial.status == results::TrialStatus::kFailed;
    table.add(std::move(cells), fails ? RowStyle::kBad : RowStyle::kPlain);
    if (fails) failures += fmt::format("would fail: {}: {}\n", trial.id, trial.failure);
  }
  return table.render(style) + styled(failures, RowStyle::kBad, style);
}

}  // namespace pareto::report
