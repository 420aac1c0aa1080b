#include "client/report/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "coordinator/results/shown_figure.h"
#include "coordinator/results/time_split.h"
#include "core/base/text.h"

namespace pareto::report {

std::string all_on(const plan::Plan& plan) {
  return "all on " + join(plan.device_names(), " and ") + (plan.replicated ? " in turns" : "");
}

std::string plan_name(const results::TrialRecord& trial) {
  if (!trial.name.empty()) return trial.name;
  if (trial.split) return trial.split->name;
  return trial.plan.stages.empty() ? trial.id : all_on(trial.plan);
}

std::string link_of(const results::TrialRecord& trial) {
  std::string text = trial.transport;
  if (trial.codec != "none" || trial.auto_codec) text += " " + trial.codec;
  if (trial.auto_codec && trial.codec != "auto") text += " (auto)";
  if (trial.plan.micro_batch > 0) text += fmt::format(" by {}", trial.plan.micro_batch);
  return text;
}

std::string setting_of(const results::TrialRecord& trial) {
  std::string text = fmt::format("{}, batch {}", link_of(trial), trial.batch);
  if (trial.condition != "none") text += ", " + trial.condition;
  return text;
}

std::string group_name(std::int64_t batch, const std::string& condition, bool several) {
  std::string name = fmt::format("batch {}", batch);
  if (condition != "none") name += ", " + condition;
  if (condition == "none" && several) name += ", network none";
  return name;
}

std::string format_figure(double value) {
  if (!std::isfinite(value)) return "-";
  return fmt::format("{:.{}f}", value, results::decimals_of(value));
}

std::string format_interval(const results::Interval& interval) {
  return fmt::format("[{}, {}]", format_figure(interval.low), format_figure(interval.high));
}

std::string rest_text(const results::TimeSplit& split) {
  return results::has_rest(split) ? format_figure(std::max(0.0, split.wait_ms)) : "-";
}

std::string time_split_text(const results::TimeSplit& split) {
  const std::string compute = format_figure(split.compute_ms) + " compute";
  const std::string transfer = format_figure(split.transfer_ms) + " transfer";
  if (results::has_rest(split)) {
    return fmt::format("= {} + {} + {} rest", compute, transfer, rest_text(split));
  }
  return fmt::format("of it {}, {}: medians of their own, together more than the whole", compute,
                     transfer);
}

std::string schedule_text(const results::StageFigures& stage) {
  const bool in_order = stage.schedule.empty() || stage.schedule == plan::kSequential;
  if (in_order && stage.schedule_reason.empty()) return "";
  return ", schedule " + (stage.schedule.empty() ? plan::kSequential : stage.schedule) +
         (stage.schedule_reason.empty() ? "" : " (" + stage.schedule_reason + ")");
}

}  // namespace pareto::report
