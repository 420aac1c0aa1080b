#include "client/commands/sweep_metrics.h"

#include <algorithm>
#include <utility>

#include "client/commands/progress.h"
#include "core/metrics/process_metrics.h"

namespace pareto::client::commands {

using metrics::Families;
using metrics::Family;
using metrics::Kind;

void SweepMetrics::begin(const results::RunRecord& run) {
  const std::lock_guard lock(mutex_);
  run_ = {{"run", run.id}, {"model", run.model}, {"version", run.software_version}};
  for (const results::TrialRecord& trial : run.trials) conditions_[trial.condition] = false;
  progress_.trials = run.trials.size();
}

void SweepMetrics::predict(std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  predicted_ = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
}

void SweepMetrics::show(const sweep::SweepProgress& progress) {
  const std::lock_guard lock(mutex_);
  if (predicted_) predicted_ = 1;
  progress_ = progress;
  for (auto& [name, in_hand] : conditions_) in_hand = name == progress.condition;
}

Families SweepMetrics::collect() const {
  Families families = metrics::process_metrics();
  const std::lock_guard lock(mutex_);
  if (run_.empty()) return families;
  const auto add = [&](const char* name, const char* help, double value) {
    families.push_back(metrics::single(name, help, Kind::kGauge, value));
  };
  families.push_back({"pareto_sweep_info", "1, of this run", Kind::kGauge, {{run_, 1, {}}}});
  if (predicted_) {
    add("pareto_sweep_prediction_ratio", "What is done of the step that predicting is at",
        *predicted_);
  }
  add("pareto_sweep_trials", "Plans of the sweep", static_cast<double>(progress_.trials));
  add("pareto_sweep_trials_measured", "Plans that have a round at least",
      static_cast<double>(progress_.measured_trials));
  add("pareto_sweep_trials_failed", "Plans that failed",
      static_cast<double>(progress_.failed_trials));
  add("pareto_sweep_trials_skipped", "Plans whose network could not be had",
      static_cast<double>(progress_.skipped_trials));
  const double total = static_cast<double>(std::max(progress_.total, progress_.done));
  add("pareto_sweep_progress_ratio", "What is done of its rounds, or of its budget",
      total > 0 ? static_cast<double>(progress_.done) / total : 0);
  if (progress_.most_left_s) {
    add("pareto_sweep_left_seconds",
        "The most that the budget leaves; absent if no budget limits the sweep",
        *progress_.most_left_s);
  }
  Family condition{"pareto_sweep_condition",
                   "1 of the network condition that is being measured",
                   Kind::kGauge,
                   {}};
  for (const auto& [name, in_hand] : conditions_) {
    condition.samples.push_back({{{"condition", name}}, in_hand ? 1.0 : 0.0, {}});
  }
  families.push_back(std::move(condition));
  return families;
}

}  // namespace pareto::client::commands
