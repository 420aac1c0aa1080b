#include "coordinator/sweep/trial_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::sweep {
namespace {

results::TrialRound round_of(int number, int window = 1) {
  results::TrialRound round;
  round.round = number;
  round.window = window;
  return round;
}

std::vector<int> numbers(const results::TrialRecord& trial) {
  std::vector<int> all;
  for (const results::TrialRound& round : trial.rounds) all.push_back(round.round);
  return all;
}

TEST(TrialRounds, StayInOrderAndAreReplaced) {
  results::TrialRecord trial;
  for (const int number : {2, 0, 1}) put_round(trial, round_of(number));
  EXPECT_THAT(numbers(trial), testing::ElementsAre(0, 1, 2));
  put_round(trial, round_of(1, 9));
  EXPECT_THAT(numbers(trial), testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(trial.rounds[1].window, 9);
}

TEST(TrialRounds, MoveToAnotherNumber) {
  results::TrialRecord trial;
  for (const int number : {0, 1, 2}) put_round(trial, round_of(number, 10 + number));
  renumber_round(trial, 1, 5);
  EXPECT_THAT(numbers(trial), testing::ElementsAre(0, 2, 5));
  EXPECT_EQ(trial.rounds[2].window, 11);
  renumber_round(trial, 7, 8);
  EXPECT_THAT(numbers(trial), testing::ElementsAre(0, 2, 5)) << "it has no such round";
}

}  // namespace
}  // namespace pareto::sweep
