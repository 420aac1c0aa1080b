#include "client/commands/sweep_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::client::commands {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns what a series says, whatever digits its number is written with; -1: it is not there.
double value(const SweepMetrics& metrics, const std::string& series) {
  const std::string text = "\n" + metrics::exposition(metrics.collect());
  const std::size_t at = text.find("\n" + series + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
}

results::RunRecord run_of(const std::vector<std::string>& conditions) {
  results::RunRecord run;
  run.id = "r1";
  run.model = "resnet50";
  run.software_version = "1.2";
  for (const std::string& condition : conditions) {
    results::TrialRecord& trial = run.trials.emplace_back();
    trial.condition = condition;
  }
  return run;
}

TEST(SweepMetrics, OfTheProcessAloneBeforeItBegins) {
  const SweepMetrics metrics;
  const std::string text = metrics::exposition(metrics.collect());
  EXPECT_THAT(text, HasSubstr("process_cpu_seconds_total"));
  EXPECT_THAT(text, Not(HasSubstr("pareto_sweep")));
}

TEST(SweepMetrics, TellHowFarPredictingIs) {
  SweepMetrics metrics;
  const results::RunRecord run = run_of({"none"});
  metrics.begin(run);
  EXPECT_EQ(value(metrics, "pareto_sweep_prediction_ratio"), -1) << "nothing has to be predicted";
  metrics.predict(3, 12);
  EXPECT_EQ(value(metrics, "pareto_sweep_prediction_ratio"), 0.25);
  EXPECT_EQ(value(metrics, "pareto_sweep_trials"), 1);
  metrics.begin(run);
  metrics.show({});
  EXPECT_EQ(value(metrics, "pareto_sweep_prediction_ratio"), 1);
}

TEST(SweepMetrics, FollowTheSweep) {
  SweepMetrics metrics;
  metrics.begin(run_of({"none", "lte", "lte", "none"}));
  EXPECT_EQ(value(metrics, "pareto_sweep_info{run=\"r1\",model=\"resnet50\",version=\"1.2\"}"), 1);
  EXPECT_EQ(value(metrics, "pareto_sweep_trials"), 4);
  EXPECT_EQ(value(metrics, "pareto_sweep_progress_ratio"), 0);
  EXPECT_EQ(value(metrics, "pareto_sweep_left_seconds"), -1);
  EXPECT_EQ(value(metrics, "pareto_sweep_condition{condition=\"lte\"}"), 0);

  sweep::SweepProgress progress;
  progress.done = 1;
  progress.total = 12;
  metrics.show(progress);
  progress.done = 3;
  progress.trials = 4;
  progress.measured_trials = 2;
  progress.failed_trials = 1;
  progress.skipped_trials = 5;
  progress.condition = "lte";
  metrics.show(progress);
  EXPECT_EQ(value(metrics, "pareto_sweep_trials_measured"), 2);
  EXPECT_EQ(value(metrics, "pareto_sweep_trials_failed"), 1);
  EXPECT_EQ(value(metrics, "pareto_sweep_trials_skipped"), 5);
  EXPECT_EQ(value(metrics, "pareto_sweep_progress_ratio"), 0.25);
  EXPECT_EQ(value(metrics, "pareto_sweep_left_seconds"), -1) << "no budget limits it";
  EXPECT_EQ(value(metrics, "pareto_sweep_condition{condition=\"lte\"}"), 1);
  EXPECT_EQ(value(metrics, "pareto_sweep_condition{condition=\"none\"}"), 0);

  // A budget may be overdrawn.
  progress.done = 13;
  metrics.show(progress);
  EXPECT_EQ(value(metrics, "pareto_sweep_progress_ratio"), 1);
  progress.most_left_s = 12;
  metrics.show(progress);
  EXPECT_EQ(value(metrics, "pareto_sweep_left_seconds"), 12) << "what the budget leaves";
}

}  // namespace
}  // namespace pareto::client::commands
