// Sweeps over networks: when they change, and when they cannot be had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/sweep/sweep_runner.h"
#include "tests/coordinator/sweep/sweep_runner_fixture.h"

namespace pareto::sweep {
namespace {

using testing::HasSubstr;

TEST_F(SweepRunnerTest, EachTrialIsMeasuredUnderItsCondition) {
  run_.trials[0].condition = "lte";
  options_.rounds = 1;
  ASSERT_TRUE(sweep());
  EXPECT_EQ(std::ranges::count(network_->applied, "lte"),
            std::ssize(run_.passes));  // once a pass, disturbed ones again
  ASSERT_TRUE(run_.trials[0].network);
  EXPECT_EQ(run_.trials[0].network->round_trip_ms, 40);
  EXPECT_EQ(run_.trials[0].network->emulator, "tc");
  EXPECT_EQ(run_.trials[1].network->round_trip_ms, 0);
  // The reference plan is about the machine.
  EXPECT_EQ(network_->applied.front(), "none");
  EXPECT_EQ(network_->applied.back(), "none");
  EXPECT_EQ(progress_.front().condition, "");
  EXPECT_NE(std::ranges::find(progress_, "lte", &SweepProgress::condition), progress_.end());
}

TEST_F(SweepRunnerTest, TheNetworkChangesOnceForAllTrialsOfACondition) {
  options_.rounds = 1;
  for (const std::size_t trial : {0, 2, 4}) run_.trials[trial].condition = "lte";
  ASSERT_TRUE(sweep());
  // The network is at rest before and after each pass, where the trials without a condition of
  // their own are measured too.
  EXPECT_EQ(std::ranges::count(network_changes(), "lte"), std::ssize(run_.passes));
}

TEST_F(SweepRunnerTest, AConditionThatDoesNotHoldFailsTheTrial) {
  run_.trials[1].condition = "overloaded";
  ASSERT_TRUE(sweep());
  EXPECT_EQ(run_.trials[1].status, results::TrialStatus::kFailed);
  EXPECT_THAT(run_.trials[1].failure, HasSubstr("could not keep up"));
  EXPECT_TRUE(run_.trials[1].rounds.empty());
  EXPECT_EQ(run_.trials[2].status, results::TrialStatus::kOk);
}

TEST_F(SweepRunnerTest, ANetworkThatCannotBeHadIsTriedOnceAndItsPlansAreSkipped) {
  for (const std::size_t trial : {0, 2, 4}) run_.trials[trial].condition = "unreachable";
  ASSERT_TRUE(sweep());
  EXPECT_EQ(std::ranges::count(network_->applied, "unreachable"), 1);
  for (const char* id : {"cut2", "cut8", "all-on:b"}) {
    EXPECT_EQ(trial(id).status, results::TrialStatus::kSkipped) << id;
    EXPECT_THAT(trial(id).failure, HasSubstr("not what was asked for"));
    EXPECT_EQ(store_.trials.at(id).status, results::TrialStatus::kSkipped);
  }
  for (const char* id : {"cut5", "all-on:a"}) {
    EXPECT_EQ(trial(id).status, results::TrialStatus::kOk) << trial(id).failure;
    EXPECT_EQ(trial(id).rounds.size(), 3U);
  }
  EXPECT_THAT(progress_.back().skipped,
              testing::ElementsAre("3 of 5 plans skipped: not what was asked for"));
  EXPECT_EQ(progress_.back().skipped_trials, 3U);
  EXPECT_EQ(progress_.back().failed_trials, 0U);
  EXPECT_TRUE(run_.finished.empty()) << "it may be had another time";

  network_->refused.clear();
  ASSERT_TRUE(sweep());
  for (const results::TrialRecord& measured : run_.trials) {
    EXPECT_EQ(measured.status, results::TrialStatus::kOk) << measured.failure;
    EXPECT_EQ(measured.rounds.size(), 3U);
    EXPECT_EQ(measured.failure, "");
  }
  EXPECT_FALSE(run_.finished.empty());
}

TEST_F(SweepRunnerTest, ANetworkThatCannotBeHadAnyMoreLeavesTheRunUnfinished) {
  for (const std::size_t trial : {0, 2, 4}) run_.trials[trial].condition = "wifi";
  on_progress_ = [this](const SweepProgress& now) { stop_ = now.done >= 5; };
  ASSERT_TRUE(sweep());
  for (const results::TrialRecord& measured : run_.trials) EXPECT_FALSE(measured.rounds.empty());
  stop_ = false;
  on_progress_ = {};
  network_->refused = "wifi";
  ASSERT_TRUE(sweep());
  EXPECT_TRUE(run_.finished.empty());
  EXPECT_EQ(trial("cut2").status, results::TrialStatus::kOk) << "it keeps what it has";
  EXPECT_LT(trial("cut2").rounds.size(), 3U);
  EXPECT_EQ(trial("cut5").rounds.size(), 3U);
  EXPECT_THAT(progress_.back().skipped,
              testing::ElementsAre("3 of 5 plans skipped: not what was asked for"));
  network_->refused.clear();
  ASSERT_TRUE(sweep());
  EXPECT_FALSE(run_.finished.empty());
  EXPECT_GE(trial("cut2").rounds.size(), 3U);
}

TEST_F(SweepRunnerTest, ARoundThatFailsWhereItIsMeasuredAgainPairsWithNoOther) {
  on_progress_ = [this](const SweepProgress& now) { stop_ = now.done >= 8; };
  ASSERT_TRUE(sweep());
  const auto torn = std::ranges::find_if(run_.trials, [](const results::TrialRecord& measured) {
    return measured.rounds.size() == 2;
  });
  ASSERT_NE(torn, run_.trials.end());
  stop_ = false;
  on_progress_ = {};
  torn->condition = "overloaded";
  ASSERT_TRUE(sweep());
  EXPECT_EQ(torn->status, results::TrialStatus::kFailed);
  ASSERT_EQ(torn->rounds.size(), 2U) << "nothing is lost";
  EXPECT_EQ(torn->rounds[0].round, 0);
  EXPECT_GT(torn->rounds[1].round, 2) << "of the second round the others have another state";
}

TEST_F(SweepRunnerTest, ANetworkThatFailsOnceItHasHeldSkipsNoPlans) {
  for (const std::size_t trial : {0, 2, 4}) run_.trials[trial].condition = "flaky";
  ASSERT_TRUE(sweep());
  EXPECT_GT(std::ranges::count(network_->applied, "flaky"), 2);
  std::size_t whole = 0;
  for (const results::TrialRecord& measured : run_.trials) {
    EXPECT_NE(measured.status, results::TrialStatus::kSkipped) << measured.id;
    if (measured.status == results::TrialStatus::kOk && measured.rounds.size() == 3) ++whole;
  }
  EXPECT_EQ(whole, 4U) << "all but the one in hand";
}

}  // namespace
}  // namespace pareto::sweep
