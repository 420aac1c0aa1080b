// Sweeps that measure only what may be on the front.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "coordinator/results/front_chance.h"
#include "tests/coordinator/sweep/sweep_runner_fixture.h"
#include "tests/support/front_property.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class AdaptiveSweepTest : public SweepRunnerTest {
 protected:
  AdaptiveSweepTest() {
    options_.adaptive = true;
    for (results::TrialRecord& trial : run_.trials) predict(trial, 1, 1000);
    // Nobody expects anything of these.
    predict(run_.trials[0], 1000, 1);
    predict(run_.trials[3], 1000, 1);
  }

  static void predict(results::TrialRecord& trial, double latency_ms, double samples_per_s) {
    trial.prediction =
        results::Prediction{.latency_ms = latency_ms, .samples_per_s = samples_per_s};
  }

  std::size_t rounds_stored() const {
    std::size_t rounds = 0;
    for (const auto& [id, stored] : store_.trials) rounds += stored.rounds.size();
    return rounds;
  }
};

TEST_F(AdaptiveSweepTest, MeasuresOnlyWhatMayBeOnTheFront) {
  ASSERT_TRUE(sweep());
  EXPECT_FALSE(run_.finished.empty());
  for (const char* id : {"cut2", "all-on:a"}) {
    EXPECT_TRUE(trial(id).rounds.empty()) << id;
    EXPECT_LE(trial(id).p_front, results::kLeastChance);
    EXPECT_GT(trial(id).prediction->expected_latency_ms, 0);
    EXPECT_GT(trial(id).prediction->latency_deviation, 0);
    EXPECT_EQ(store_.trials.at(id).prediction->expected_latency_ms,
              trial(id).prediction->expected_latency_ms);
  }
  for (const char* id : {"cut5", "cut8", "all-on:b"}) EXPECT_FALSE(trial(id).rounds.empty()) << id;
  EXPECT_EQ(test::contradiction_in(run_), "");
  EXPECT_EQ(test::contradiction_in(*store_.updated), "");
  EXPECT_TRUE(std::ranges::any_of(
      run_.trials, [](const results::TrialRecord& measured) { return measured.p_front > 0.5; }));
  EXPECT_THAT(run_.note, AllOf(HasSubstr("adaptive"), HasSubstr("A reference plan, all-on:a"),
                               HasSubstr("No pass is measured again")));
  EXPECT_THAT(run_.note, Not(AnyOf(HasSubstr("3 rounds"), HasSubstr("Measured again"),
                                   HasSubstr("resamples"))))
      << "which are rules of others";
  EXPECT_EQ(progress_.back().phase, "3 of 5 plans measured");
  for (const SweepProgress& now : progress_) {
    if (now.phase.empty()) continue;  // before the first pass
    EXPECT_EQ(now.phase, fmt::format("{} of 5 plans measured", now.measured_trials));
  }
}

TEST_F(AdaptiveSweepTest, TrialsWithoutAPredictionAreMeasured) {
  run_.trials[0].prediction.reset();
  ASSERT_TRUE(sweep());
  EXPECT_FALSE(trial("cut2").rounds.empty());
}

TEST_F(AdaptiveSweepTest, TrialsThatAreKnownToFailAreNotTried) {
  for (results::TrialRecord& failed : run_.trials) {
    if (failed.id == "cut5") continue;
    failed.prediction.reset();
    failed.status = results::TrialStatus::kFailed;
    failed.failure = "no room";
    failed.no_room = true;
  }
  ASSERT_TRUE(sweep());
  for (const char* id : {"cut2", "cut8", "all-on:a", "all-on:b"}) {
    EXPECT_TRUE(trial(id).rounds.empty()) << id;
    EXPECT_EQ(trial(id).failure, "no room");
    EXPECT_EQ(trial(id).p_front, 0);
  }
  EXPECT_FALSE(trial("cut5").rounds.empty());
  for (const test::FakeDaemon* daemon : daemons_) {
    EXPECT_EQ(daemon->loads(), 1)
        << "not even for the reference plan, which is a one-device plan else";
  }
  EXPECT_EQ(progress_.back().failed_trials, 4U);
  EXPECT_FALSE(run_.finished.empty());
}

TEST_F(AdaptiveSweepTest, TrialsThatFailedInAnEarlierPartAreTriedAgain) {
  results::TrialRecord& failed = run_.trials[0];
  failed.prediction.reset();
  failed.status = results::TrialStatus::kFailed;
  failed.failure = "b does not answer any more";
  ASSERT_TRUE(sweep());
  EXPECT_EQ(failed.status, results::TrialStatus::kOk);
  EXPECT_FALSE(failed.rounds.empty());
}

TEST_F(AdaptiveSweepTest, EndsWhereTheBudgetIsSpent) {
  const HastyClock clock;
  clock_ = &clock;
  options_.budget_s = 0.5;
  ASSERT_TRUE(sweep());
  EXPECT_FALSE(run_.finished.empty()) << "there is nothing to resume";
  EXPECT_LE(rounds_stored(), 4U);
  ASSERT_EQ(run_.passes.size(), 1U);
  EXPECT_GE(run_.passes[0].seconds, 0.5);
  EXPECT_THAT(run_.note, HasSubstr("Undecided: "));
}

TEST_F(AdaptiveSweepTest, WhatEndsAfterTheBudgetCountsNoMoreThanIt) {
  const HastyClock clock(std::chrono::seconds(3));
  clock_ = &clock;
  options_.budget_s = 2;
  ASSERT_TRUE(sweep());
  ASSERT_GE(run_.passes[0].seconds, 3);
  for (const SweepProgress& now : progress_) {
    EXPECT_EQ(now.total, 2U);
    EXPECT_LE(now.done, now.total);
  }
}

TEST_F(AdaptiveSweepTest, FailuresOfAnEarlierPartStandWhereTheBudgetIsSpent) {
  results::TrialRecord& failed = run_.trials[0];
  failed.prediction.reset();
  failed.status = results::TrialStatus::kSkipped;
  failed.failure = "the link is not what was asked for";
  run_.passes.resize(1);
  run_.passes[0].seconds = options_.budget_s = 60;
  ASSERT_TRUE(sweep());
  EXPECT_EQ(failed.status, results::TrialStatus::kSkipped);
  EXPECT_EQ(failed.failure, "the link is not what was asked for");
  EXPECT_EQ(store_.trials.at(failed.id).status, results::TrialStatus::kSkipped);
  EXPECT_TRUE(run_.finished.empty());
  options_.budget_s = 300;
  ASSERT_TRUE(sweep());
  EXPECT_EQ(failed.status, results::TrialStatus::kOk);
  EXPECT_FALSE(failed.rounds.empty());
}

TEST_F(AdaptiveSweepTest, ANetworkThatCannotBeHadAnyMoreEndsItsRace) {
  for (results::TrialRecord& trial : run_.trials) predict(trial, 1, 1000);
  for (const std::size_t trial : {0, 2, 4}) run_.trials[trial].condition = "wifi";
  on_progress_ = [this](const SweepProgress& now) { stop_ = now.measured_trials == 5; };
  ASSERT_TRUE(sweep());
  ASSERT_FALSE(trial("cut2").rounds.empty());
  stop_ = false;
  on_progress_ = {};
  network_->refused = "wifi";
  const std::size_t rounds = trial("cut2").rounds.size();
  ASSERT_TRUE(sweep());
  EXPECT_EQ(trial("cut2").rounds.size(), rounds);
  EXPECT_EQ(trial("cut2").status, results::TrialStatus::kOk);
  EXPECT_TRUE(run_.finished.empty());
}

TEST_F(AdaptiveSweepTest, ConditionsComeInTurns) {
  run_.trials.clear();
  for (const char* condition : {"lte", "wifi"}) {
    for (std::int64_t cut = 1; cut < test::kFakeOperators; ++cut) {
      add(fmt::format("{}{}", condition, cut), {"a", "b"}, cut);
      run_.trials.back().condition = condition;
      predict(run_.trials.back(), 1, 1000);
    }
  }
  ASSERT_TRUE(sweep());
  std::vector<std::string> changes = network_changes();
  ASSERT_GE(changes.size(), 6U);
  changes.resize(6);
  // Eight trials of each, then the ninth of each; at rest before and after.
  EXPECT_THAT(changes, AnyOf(ElementsAre("none", "lte", "wifi", "lte", "wifi", "none"),
                             ElementsAre("none", "wifi", "lte", "wifi", "lte", "none")));
}

TEST_F(AdaptiveSweepTest, GoesOnWithWhatAnEarlierPartMeasured) {
  on_progress_ = [this](const SweepProgress&) { stop_ = rounds_stored() >= 2; };
  ASSERT_TRUE(sweep());
  EXPECT_TRUE(run_.finished.empty());
  ASSERT_EQ(rounds_stored(), 2U);
  std::map<std::string, std::vector<double>> before;
  for (const auto& [id, stored] : store_.trials) {
    if (!stored.rounds.empty()) before[id] = stored.rounds[0].latency_ms;
  }
  stop_ = false;
  on_progress_ = nullptr;
  ASSERT_TRUE(sweep());
  EXPECT_FALSE(run_.finished.empty());
  EXPECT_EQ(test::contradiction_in(run_), "");
  for (const auto& [id, latency_ms] : before) {
    EXPECT_EQ(trial(id).rounds[0].latency_ms, latency_ms);
  }
}

TEST_F(AdaptiveSweepTest, WhatAnEarlierPartSpentOfTheBudgetIsSpent) {
  const HastyClock clock;
  clock_ = &clock;
  std::vector<results::PassRecord> if_killed;
  on_progress_ = [&](const SweepProgress&) {
    if (rounds_stored() == 1) if_killed = store_.passes;
    stop_ = rounds_stored() >= 2;
  };
  ASSERT_TRUE(sweep());
  ASSERT_EQ(run_.passes.size(), 1U);
  EXPECT_FALSE(run_.passes[0].whole);
  EXPECT_GT(run_.passes[0].seconds, 0);
  ASSERT_EQ(if_killed.size(), 1U);
  EXPECT_FALSE(if_killed[0].whole);
  EXPECT_GT(if_killed[0].seconds, 0);
  EXPECT_LT(if_killed[0].seconds, run_.passes[0].seconds);
  // Nothing is left of a budget of so much.
  options_.budget_s = run_.passes[0].seconds;
  stop_ = false;
  on_progress_ = nullptr;
  ASSERT_TRUE(sweep());
  EXPECT_EQ(rounds_stored(), 2U);
  EXPECT_FALSE(run_.finished.empty());
}

TEST_F(AdaptiveSweepTest, AFailedTrialLeavesTheRace) {
  daemons_[1]->set_memory_limit(6 * test::kFakeWeightBytes);
  ASSERT_TRUE(sweep());
  EXPECT_EQ(trial("all-on:b").status, results::TrialStatus::kFailed);
  EXPECT_EQ(trial("all-on:b").p_front, 0);
  EXPECT_EQ(trial("cut5").status, results::TrialStatus::kOk);
  EXPECT_FALSE(run_.finished.empty());
}

}  // namespace
}  // namespace pareto::sweep
