#include "coordinator/sweep/race_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include "coordinator/statistics/front.h"

namespace pareto::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Adds rounds by number, in each of which all requests took that many ms.
void add_rounds(results::TrialRecord& trial, const std::map<int, double>& rounds) {
  for (const auto& [number, latency_ms] : rounds) {
    results::TrialRound& round = trial.rounds.emplace_back();
    round.round = number;
    round.latency_ms.assign(12, latency_ms);
    round.intervals_s.assign(12, latency_ms / 1e3);
    trial.latency.samples += 12;
  }
}

TEST(RaceSchedule, TheFrontIsOfWhatIsBelieved) {
  results::RunRecord run;
  for (int i = 0; i < 6; ++i) {
    results::TrialRecord& trial = run.trials.emplace_back();
    trial.plan.stages.emplace_back().end = 10;
    trial.prediction = results::Prediction{.latency_ms = 10.0 + i, .samples_per_s = 100.0 - i};
    // The machine was a fifth slower in round 1.
    if (i != 1) add_rounds(trial, {{0, 10.0 + i}, {1, 1.2 * (10 + i)}});
  }
  add_rounds(run.trials[1], {{0, 10.5}});
  for (results::TrialRecord& trial : run.trials) {
    trial.latency.p50_ms =
        (trial.rounds.front().latency_ms[0] + trial.rounds.back().latency_ms[0]) / 2;
    trial.throughput.samples_per_s = 1e3 / trial.latency.p50_ms;
  }
  statistics::settle_by_rounds(run.trials, 1);
  ASSERT_TRUE(run.trials[1].on_front) << "10.5 ms against 11, the median of the other's";
  ASSERT_FALSE(run.trials[0].on_front);
  SweepOptions options;
  options.adaptive = true;
  const auto schedule = make_schedule(run, options);
  schedule->next(run);
  schedule->mark(run);
  EXPECT_TRUE(run.trials[0].on_front);
  EXPECT_FALSE(run.trials[1].on_front) << "in the round that both have it is slower";
}

/// Returns a run of plans, each a little worse than the one before.
results::RunRecord run_of(int plans) {
  results::RunRecord run;
  run.seed = 3;
  for (int i = 0; i < plans; ++i) {
    results::TrialRecord& trial = run.trials.emplace_back();
    trial.plan.stages.emplace_back().end = 10;
    trial.prediction = results::Prediction{.latency_ms = 10.0 + i, .samples_per_s = 100.0 - i};
  }
  return run;
}

SweepOptions adaptive_options() {
  SweepOptions options;
  options.adaptive = true;
  return options;
}

std::optional<Pass> first_pass(results::RunRecord run, const SweepOptions& options) {
  return make_race_schedule(run, options)->next(run);
}

TEST(RaceSchedule, RoundsHaveNumbersThatNoPartOfTheRunHad) {
  EXPECT_EQ(first_pass(run_of(3), adaptive_options())->round, 0);
  results::RunRecord run = run_of(3);
  add_rounds(run.trials[1], {{4, 10}});
  EXPECT_EQ(first_pass(run, adaptive_options())->round, 5);
  run.passes = {{.round = 7}, {.round = 2}};
  EXPECT_EQ(first_pass(run, adaptive_options())->round, 8) << "a pass that measured nothing";
  const auto schedule = make_race_schedule(run, adaptive_options());
  EXPECT_EQ(schedule->next(run)->round, 8);
  EXPECT_EQ(schedule->next(run)->round, 9);
}

TEST(RaceSchedule, EndsWithItsBudgetToTheSecond) {
  results::RunRecord run = run_of(3);
  run.passes = {{.round = 0, .seconds = 30}, {.round = 1, .seconds = 30}};
  SweepOptions options = adaptive_options();
  options.budget_s = 60;
  EXPECT_FALSE(first_pass(run, options)) << "all of it is spent";
  options.budget_s = 60.5;
  EXPECT_TRUE(first_pass(run, options));
  EXPECT_EQ(make_race_schedule(run, options)->budget_s(), 60.5);
}

TEST(RaceSchedule, MeasuresNothingThatFailedOrThatIsRefused) {
  results::RunRecord run = run_of(4);
  run.trials[0].status = results::TrialStatus::kFailed;
  run.trials[1].status = results::TrialStatus::kRefused;
  run.trials[2].condition = "lte";
  const auto schedule = make_race_schedule(run, adaptive_options());
  schedule->refuse("lte");
  schedule->refuse("a network of no trial");
  const auto pass = schedule->next(run);
  ASSERT_TRUE(pass);
  EXPECT_THAT(pass->trials, ElementsAre(3));
  run.trials[3].status = results::TrialStatus::kFailed;
  EXPECT_FALSE(schedule->next(run)) << "nothing is left";
}

TEST(RaceSchedule, OfOneSeedIsOneRace) {
  const auto race = [] {
    results::RunRecord run = run_of(40);
    const auto schedule = make_race_schedule(run, adaptive_options());
    std::vector<std::vector<std::size_t>> passes;
    for (int i = 0; i < 3; ++i) {
      const auto pass = schedule->next(run);
      if (!pass) break;
      passes.push_back(pass->trials);
      for (const std::size_t place : pass->trials) {
        add_rounds(run.trials[place], {{pass->round, 10.0 + static_cast<double>(place)}});
      }
    }
    return passes;
  };
  const auto passes = race();
  ASSERT_FALSE(passes.empty());
  EXPECT_EQ(race(), passes);
}

TEST(RaceSchedule, ASweepOfNothingIsOver) {
  results::RunRecord run;
  const auto schedule = make_race_schedule(run, adaptive_options());
  EXPECT_FALSE(schedule->next(run));
  schedule->mark(run);
  EXPECT_THAT(schedule->describe(run, ""), HasSubstr("Undecided: 0 of 0 plans."));
}

TEST(RaceSchedule, SaysItsRulesWithTheNumbersInForce) {
  results::RunRecord run = run_of(3);
  SweepOptions options = adaptive_options();
  options.budget_s = 120;
  const std::string usual = make_race_schedule(run, options)->describe(run, "");
  EXPECT_THAT(usual, HasSubstr("at most 10 rounds a plan and 2 min in all"));
  EXPECT_THAT(usual, Not(HasSubstr("reference plan")));
  options.rounds = 25;
  const std::string more = make_race_schedule(run, options)->describe(run, "all-on:a");
  EXPECT_THAT(more, HasSubstr("at most 25 rounds"));
  EXPECT_THAT(more, HasSubstr("A reference plan, all-on:a"));
}

TEST(RacePlans, AreComparedWithinABatchAndANetwork) {
  results::RunRecord run = run_of(5);
  run.trials[1].batch = 8;
  run.trials[2].condition = "lte";
  run.trials[3].batch = 8;
  run.trials[3].condition = "lte";
  const auto plans = race_plans(run.trials);
  ASSERT_EQ(plans.size(), 5U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(plans[i].group, static_cast<int>(i));
  EXPECT_EQ(plans[4].group, plans[0].group);
  EXPECT_TRUE(race_plans({}).empty());
}

TEST(RacePlans, TakeWhatIsPredictedAndNoRounds) {
  results::RunRecord run = run_of(2);
  run.trials[0].prediction->latency_compute_share = 0.25;
  run.trials[0].prediction->throughput_compute_share = 0.5;
  run.trials[0].prediction->doubted = true;
  run.trials[1].prediction.reset();
  for (results::TrialRecord& trial : run.trials) add_rounds(trial, {{0, 10}});
  const auto plans = race_plans(run.trials);
  ASSERT_TRUE(plans[0].predicted);
  EXPECT_DOUBLE_EQ(plans[0].predicted->latency, std::log(10.0));
  EXPECT_DOUBLE_EQ(plans[0].predicted->throughput, std::log(100.0));
  EXPECT_EQ(plans[0].compute_share.latency, 0.25);
  EXPECT_EQ(plans[0].compute_share.throughput, 0.5);
  EXPECT_TRUE(plans[0].doubted);
  EXPECT_FALSE(plans[1].predicted);
  EXPECT_FALSE(plans[1].doubted);
  for (const statistics::RacePlan& plan : plans) EXPECT_TRUE(plan.rounds.empty());
}

TEST(RacePlans, ThatDifferHaveFeaturesThatDiffer) {
  const auto features = [](auto change) {
    results::RunRecord run = run_of(2);
    for (results::TrialRecord& trial : run.trials) {
      trial.batch = trial.plan.batch = 8;
      trial.plan.stages = {{"a", 0, 4}, {"b", 4, 10}};
      trial.split = results::SplitRecord{};
      trial.split->boundary_bytes = 1000;
    }
    change(run.trials[1]);
    const auto plans = race_plans(run.trials);
    for (const auto& plan : plans) {
      EXPECT_EQ(plan.features.size(), plans[0].features.size());
      for (const double feature : plan.features) EXPECT_TRUE(std::isfinite(feature));
    }
    return std::pair(plans[0].features, plans[1].features);
  };
  const auto differ = [&](auto change) {
    const auto [one, other] = features(change);
    return one != other;
  };
  using Trial = results::TrialRecord;
  EXPECT_FALSE(differ([](Trial&) {}));
  EXPECT_FALSE(differ([](Trial& t) { t.id = "another"; })) << "a name says nothing of its times";
  EXPECT_TRUE(differ([](Trial& t) { t.plan.stages = {{"a", 0, 5}, {"b", 5, 10}}; }));
  EXPECT_TRUE(differ([](Trial& t) { t.plan.stages = {{"a", 0, 10}}; }));
  EXPECT_TRUE(differ([](Trial& t) { t.split->boundary_bytes = 2000; }));
  EXPECT_TRUE(differ([](Trial& t) { t.transport = "grpc"; }));
  EXPECT_TRUE(differ([](Trial& t) { t.plan.settings.threads = 7; }));
  EXPECT_TRUE(differ([](Trial& t) { t.plan.settings.schedule = "clusters"; }));
  EXPECT_TRUE(differ([](Trial& t) { t.plan.micro_batch = 2; }));
  // Nothing may cross, and a model may have no operators.
  features([](Trial& t) { t.split->boundary_bytes = 0; });
  features([](Trial& t) { t.plan.stages = {{"a", 0, 0}}; });
}

TEST(RaceRound, IsTheLogarithmsOfBothFigures) {
  results::TrialRecord trial;
  add_rounds(trial, {{6, 20}});
  trial.rounds[0].loading = 3;
  const auto round = race_round(trial.rounds[0], /*batch=*/4);
  ASSERT_TRUE(round);
  EXPECT_EQ(round->pass, 6);
  EXPECT_EQ(round->loading, 3);
  EXPECT_NEAR(round->figures.latency, std::log(20.0), 1e-9);
  EXPECT_NEAR(round->figures.throughput, std::log(4 / 0.02), 1e-9);
  EXPECT_GE(round->errors.latency, 0);
  EXPECT_GE(round->errors.throughput, 0);
}

TEST(RaceRound, NeedsLatenciesAndCompletions) {
  results::TrialRecord trial;
  add_rounds(trial, {{0, 20}});
  results::TrialRound without = trial.rounds[0];
  without.latency_ms.clear();
  EXPECT_FALSE(race_round(without, 1));
  without = trial.rounds[0];
  without.intervals_s.clear();
  EXPECT_FALSE(race_round(without, 1));
  EXPECT_FALSE(race_round({}, 1));
}

TEST(TimeWords, AreSecondsBelowAMinuteAndAHalf) {
  EXPECT_EQ(time_words(0), "0 s");
  EXPECT_EQ(time_words(2.4), "2 s");
  EXPECT_EQ(time_words(89), "89 s");
  EXPECT_EQ(time_words(90), "1.5 min");
  EXPECT_EQ(time_words(100), "1.67 min");
  EXPECT_EQ(time_words(300), "5 min");
  EXPECT_EQ(time_words(3600), "60 min");
  EXPECT_EQ(time_words(5400), "1.5 h");
  EXPECT_EQ(time_words(3.6e6), "1000 h");
}

}  // namespace
}  // namespace pareto::sweep
