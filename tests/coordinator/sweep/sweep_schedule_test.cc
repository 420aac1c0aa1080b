#include "coordinator/sweep/sweep_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace pareto::sweep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr int kRounds = 3;

/// Makes a run with those rounds of each of its trials.
results::RunRecord run_of(const std::vector<std::vector<int>>& trials) {
  results::RunRecord run;
  for (const std::vector<int>& rounds : trials) {
    results::TrialRecord& trial = run.trials.emplace_back();
    for (const int round : rounds) trial.rounds.emplace_back().round = round;
  }
  return run;
}

results::PassRecord pass_of(int round, bool whole = true, double plan_ms = 10) {
  return {round, plan_ms, 1.0, false, whole};
}

/// Numbers of rounds, and which trials are measured in them.
std::vector<std::pair<int, std::vector<std::size_t>>> planned(const results::RunRecord& run) {
  std::vector<std::pair<int, std::vector<std::size_t>>> passes;
  for (const Pass& pass : make_exhaustive_schedule(run, kRounds)->planned()) {
    passes.emplace_back(pass.round, pass.trials);
  }
  return passes;
}

TEST(ExhaustiveSchedule, OfANewRunAllRoundsOfAllTrials) {
  EXPECT_THAT(planned(run_of({{}, {}})),
              ElementsAre(Pair(0, ElementsAre(0, 1)), Pair(1, ElementsAre(0, 1)),
                          Pair(2, ElementsAre(0, 1))));
}

TEST(ExhaustiveSchedule, ARoundThatWasInterruptedIsMeasuredAgainByAll) {
  results::RunRecord run = run_of({{0, 1}, {0, 1}, {0}});
  run.passes = {pass_of(0), pass_of(1, false)};
  const auto left = planned(run);
  EXPECT_THAT(left, ElementsAre(Pair(1, ElementsAre(0, 1, 2)), Pair(2, ElementsAre(0, 1, 2))));
  run.passes.pop_back();
  EXPECT_EQ(planned(run), left) << "a version that kept no record of it was killed";
  // Nor is it whole where it was interrupted while it was measured again.
  run = run_of({{0, 1, 2}, {0, 1, 2}});
  run.passes = {pass_of(0), pass_of(1), pass_of(2), pass_of(1, false)};
  EXPECT_THAT(planned(run), ElementsAre(Pair(1, ElementsAre(0, 1))));
  run.passes.push_back(pass_of(1));
  EXPECT_THAT(planned(run), IsEmpty());
}

TEST(ExhaustiveSchedule, WhatTrialsLackOfOthersRoundsTheyGetInRoundsOfTheirOwn) {
  results::RunRecord run = run_of({{0, 1, 2}, {0, 1}, {0}});
  run.passes = {pass_of(0), pass_of(1), pass_of(2)};
  EXPECT_THAT(planned(run), ElementsAre(Pair(3, ElementsAre(1, 2)), Pair(4, ElementsAre(2))));
  // Interrupted there, the next part has others again.
  run = run_of({{0, 1, 2}, {0, 1, 3}, {0}});
  run.passes = {pass_of(0), pass_of(1), pass_of(2), pass_of(3, false)};
  EXPECT_THAT(planned(run), ElementsAre(Pair(4, ElementsAre(2)), Pair(5, ElementsAre(2))));
  // What is measured again counts.
  run = run_of({{0, 1}, {0}, {}});
  run.passes = {pass_of(0), pass_of(1), pass_of(2, false)};
  EXPECT_THAT(planned(run), ElementsAre(Pair(2, ElementsAre(0, 1, 2)), Pair(3, ElementsAre(1, 2)),
                                        Pair(4, ElementsAre(2))));
}

TEST(ExhaustiveSchedule, WhoFailedWithAllItsRoundsIsTriedOnceMore) {
  results::RunRecord run = run_of({{0, 1, 2}, {0, 1, 2}});
  run.passes = {pass_of(0), pass_of(1), pass_of(2)};
  run.trials[1].status = results::TrialStatus::kFailed;
  EXPECT_THAT(planned(run), ElementsAre(Pair(3, ElementsAre(1))));
}

TEST(ExhaustiveSchedule, ADisturbedRoundIsRepeatedByThoseWhoWereInIt) {
  results::RunRecord run = run_of({{}, {0, 1, 2}});
  run.passes = {pass_of(0, true, 30), pass_of(1), pass_of(2)};
  const auto schedule = make_exhaustive_schedule(run, kRounds);
  for (int number = 3; number < 6; ++number) {
    const std::optional<Pass> pass = schedule->next(run);
    ASSERT_TRUE(pass);
    EXPECT_EQ(pass->round, number);
    EXPECT_FALSE(pass->repeat);
    run.passes.push_back(pass_of(number, true, number == 4 ? 14 : 10));
  }
  const std::optional<Pass> again = schedule->next(run);
  ASSERT_TRUE(again) << "the disturbed one of an earlier part is left alone";
  EXPECT_EQ(again->round, 4);
  EXPECT_TRUE(again->repeat);
  EXPECT_THAT(again->trials, ElementsAre(0));
  EXPECT_FALSE(schedule->next(run));
}

}  // namespace
}  // namespace pareto::sweep
