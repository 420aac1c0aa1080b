#include "coordinator/statistics/front_race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "coordinator/statistics/race_pass.h"
#include "tests/coordinator/statistics/simulated_sweep.h"

namespace pareto::statistics {
namespace {

using test::SimulatedSweep;
using testing::Contains;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

RacePlan predicted(double latency, double throughput, double place = 0) {
  RacePlan plan;
  plan.features = {place};
  plan.predicted = {{std::log(latency), std::log(throughput)}};
  return plan;
}

void measure(RacePlan& plan, int passes, double latency, double throughput) {
  for (int pass = 0; pass < passes; ++pass) {
    plan.rounds.push_back({pass, {std::log(latency), std::log(throughput)}, {0.002, 0.002}});
  }
}

/// Predictions alone may rule out any plan.
RaceRules trusting() {
  RaceRules rules;
  rules.first_look = 0;
  rules.far_look = 0;
  return rules;
}

TEST(FrontRace, WhatIsFarBehindIsNeverMeasured) {
  std::vector<RacePlan> plans{predicted(10, 100, 0), predicted(20, 50, 1), predicted(30, 200, 2)};
  const RaceState state = judge_race(plans, trusting());
  EXPECT_GT(state.standings[0].p_front, 0.95);
  EXPECT_LT(state.standings[1].p_front, 0.05);
  EXPECT_TRUE(state.standings[1].decided);
  EXPECT_FALSE(state.standings[0].decided) << "nothing is claimed unmeasured";
  EXPECT_THAT(state.next_pass, UnorderedElementsAre(0, 2));
}

TEST(FrontRace, IsOverOnceAllIsDecided) {
  std::vector<RacePlan> plans{predicted(10, 100, 0), predicted(20, 50, 1), predicted(30, 200, 2)};
  measure(plans[0], 2, 10, 100);
  measure(plans[2], 2, 31, 201);
  const RaceState state = judge_race(plans, trusting());
  EXPECT_THAT(state.next_pass, IsEmpty());
  for (const PlanStanding& plan : state.standings) EXPECT_TRUE(plan.decided);
}

TEST(FrontRace, NothingIsMeasuredOfAGroupThatIsOutOfReach) {
  std::vector<RacePlan> plans{predicted(10, 100, 0), predicted(30, 200, 1), predicted(10, 100, 0)};
  plans[2].group = 1;
  measure(plans[1], 1, 31, 201);
  plans[0].unreachable = plans[1].unreachable = true;
  EXPECT_THAT(judge_race(plans, {}).next_pass, UnorderedElementsAre(2));
  EXPECT_GT(judge_race(plans, {}).standings[1].p_front, 0) << "what was measured still counts";
}

TEST(FrontRace, TheFirstLookIsAtThoseNearestToTheFront) {
  std::vector<RacePlan> plans{predicted(10, 100, 0)};
  for (int i = 1; i < 20; ++i) plans.push_back(predicted(20 + i, 50, 1));
  const RaceState state = judge_race(plans, {});
  EXPECT_THAT(state.next_pass, UnorderedElementsAre(0, 1, 2, 3, 4, 5))
      << "one leads by far, by prediction alone";
  for (std::size_t i = 0; i < 6; ++i) measure(plans[i], 2, i == 0 ? 10 : 20, i == 0 ? 100 : 50);
  EXPECT_THAT(judge_race(plans, {}).next_pass, IsEmpty())
      << "it was a far look as well: predictions put all but one far behind";
}

TEST(FrontRace, WhatIsSurelyOnTheFrontIsMeasuredBeforeWhatIsNot) {
  // In one group nothing is undecided; in the other there is more to find out than a pass holds.
  std::vector<RacePlan> plans{predicted(10, 100, 0)};
  for (int i = 0; i < 40; ++i) {
    plans.push_back(predicted(10 * (1 + 0.01 * i), 100 * (1 + 0.01 * i), 0.1 * i));
    plans.back().group = 1;
  }
  RaceRules rules = trusting();
  rules.widest_pass = 4;
  EXPECT_THAT(judge_race(plans, rules).next_pass, Contains(0U));
  measure(plans[0], 1, 10, 100);
  EXPECT_THAT(judge_race(plans, rules).next_pass, Contains(0U));
  plans[0].rounds.clear();
  measure(plans[0], 2, 10, 100);
  EXPECT_THAT(judge_race(plans, rules).next_pass, testing::Not(Contains(0U)));
}

TEST(FrontRace, MeasuringTellsOfNeighboursThatWereNot) {
  // Predicted alike; those measured turn out 30 % slower, on one side of the cut alone.
  std::vector<RacePlan> plans;
  for (int i = 0; i < 40; ++i) plans.push_back(predicted(10, 100, 0.1 * i));
  for (std::size_t i = 0; i < 40; i += 2) {
    const double slow = i < 20 ? 1.3 : 1;
    measure(plans[i], 3, 10 * slow, 100 / slow);
  }
  const RaceState state = judge_race(plans, {});
  EXPECT_LT(state.standings[7].p_front, 0.1);
  EXPECT_GT(state.standings[31].p_front, 0.15);
}

TEST(FrontRace, PlansThatAreAsGoodStayOnTheFrontTogether) {
  std::vector<RacePlan> plans{predicted(10, 100), predicted(10, 100)};
  for (RacePlan& plan : plans) measure(plan, 10, 10, 100);
  for (const PlanStanding& standing : judge_race(plans, {}).standings) {
    EXPECT_GT(standing.p_front, 0.9) << "within the tolerance nobody is beaten";
  }
}

TEST(FrontRace, WhatIsNotPredictedIsMeasured) {
  std::vector<RacePlan> plans{predicted(10, 100), {}};
  plans[1].features = {1};
  EXPECT_THAT(judge_race(plans, {}).next_pass, Contains(1U));
  measure(plans[0], 2, 10, 100);
  measure(plans[1], 1, 20, 50);
  EXPECT_LT(judge_race(plans, {}).standings[1].p_front, 0.05);
  EXPECT_THAT(judge_race(plans, {}).next_pass, IsEmpty());
}

TEST(FrontRace, GroupsDoNotCompete) {
  std::vector<RacePlan> plans{predicted(10, 100), predicted(100, 10)};
  plans[1].group = 1;
  EXPECT_THAT(judge_race(plans, {}).next_pass, UnorderedElementsAre(0, 1));
}

TEST(FrontRace, FailedPlansAreOnNoFrontAndOutOfTheRace) {
  std::vector<RacePlan> plans{predicted(10, 100), predicted(20, 50)};
  plans[0].failed = true;
  const RaceState state = judge_race(plans, {});
  EXPECT_EQ(state.standings[0].p_front, 0);
  EXPECT_THAT(state.next_pass, UnorderedElementsAre(1));
}

TEST(FrontRace, GivesUpAfterSoManyRounds) {
  RaceRules rules;
  rules.most_rounds = 3;
  std::vector<RacePlan> plans{predicted(10, 100), predicted(10.1, 100)};
  for (RacePlan& plan : plans) measure(plan, 3, 10, 100);
  for (RaceRound& round : plans[1].rounds) round.figures.latency += std::log(1.01);
  const RaceState state = judge_race(plans, rules);
  EXPECT_FALSE(state.standings[1].decided);
  EXPECT_THAT(state.next_pass, IsEmpty());
}

TEST(FrontRace, WhatDevicesTakeLongerIsNotExpectedOfWhatTheNetworkDecides) {
  std::vector<RacePlan> plans{predicted(10, 100, 0), predicted(20, 50, 1), predicted(10, 100, 0),
                              predicted(20, 50, 1)};
  for (const std::size_t far : {2, 3}) {
    plans[far].group = 1;
    plans[far].compute_share = {0.02, 0};
  }
  measure(plans[0], 4, 14, 70);
  measure(plans[1], 4, 28, 35);
  const RaceState state = judge_race(plans, trusting());
  EXPECT_NEAR(std::exp(state.standings[3].latency.logarithm), 20, 0.4);
  EXPECT_NEAR(std::exp(state.standings[3].throughput.logarithm), 50, 1);
}

TEST(FrontRace, APassIsNoWiderThanAsked) {
  std::vector<RacePlan> plans;
  for (int i = 0; i < 100; ++i) plans.push_back(predicted(10, 100, 0.05 * i));
  RaceRules rules;
  rules.widest_pass = 7;
  const RaceState state = judge_race(plans, rules);
  ASSERT_EQ(state.next_pass.size(), 7U);
  const std::set<std::size_t> different(state.next_pass.begin(), state.next_pass.end());
  EXPECT_EQ(different.size(), 7U);
  // Neighbours tell the same.
  EXPECT_GT(*different.rbegin() - *different.begin(), 50U);
}

/// The outcome over several sweeps, with a tenth of the rounds that three of each plan would be.
struct RaceOutcome {
  double volume = 0;        ///< share that the plans measured reach of what all do
  std::size_t claimed = 0;  ///< plans said to be on the front with 95 %
  std::size_t wrong = 0;    ///< those that are truly beaten
};

RaceOutcome race_of_sweeps(double noise) {
  constexpr int kSweeps = 6;
  RaceOutcome outcome;
  for (int seed = 1; seed <= kSweeps; ++seed) {
    SimulatedSweep sweep(static_cast<std::uint64_t>(seed), noise);
    const std::size_t budget = sweep.plans.size() * 3 / 10;
    RaceRules rules;
    rules.widest_pass = 16;
    std::size_t spent = 0;
    RaceState state = judge_race(sweep.plans, rules);
    for (int pass = 0; !state.next_pass.empty(); ++pass) {
      if (spent + state.next_pass.size() > budget) break;
      sweep.measure(state.next_pass, pass);
      spent += state.next_pass.size();
      state = judge_race(sweep.plans, rules);
    }
    for (std::size_t i = 0; i < sweep.plans.size(); ++i) {
      if (sweep.plans[i].rounds.empty() || state.standings[i].p_front < 0.95) continue;
      ++outcome.claimed;
      if (truly_beaten(sweep, i)) ++outcome.wrong;
    }
    for (int group = 0; group < SimulatedSweep::kGroups; ++group) {
      outcome.volume +=
          hypervolume(sweep, group, [&](std::size_t i) { return !sweep.plans[i].rounds.empty(); }) /
          hypervolume(sweep, group, [](std::size_t) { return true; });
    }
  }
  outcome.volume /= kSweeps * SimulatedSweep::kGroups;
  return outcome;
}

TEST(FrontRace, FindsTheFrontWithATenthOfTheRounds) {
  const RaceOutcome outcome = race_of_sweeps(0.01);
  EXPECT_GE(outcome.volume, 0.985);
  EXPECT_GE(outcome.claimed, 25U);
  EXPECT_LE(static_cast<double>(outcome.wrong), 0.07 * static_cast<double>(outcome.claimed))
      << outcome.wrong << " of " << outcome.claimed;
}

TEST(FrontRace, OnADisturbedMachineLittleIsClaimed) {
  const RaceOutcome outcome = race_of_sweeps(0.12);
  EXPECT_GE(outcome.volume, 0.95);
  EXPECT_LE(outcome.claimed, 15U) << "one round says little";
  EXPECT_LE(outcome.wrong, 1U);
}

TEST(FrontRace, SomeAreMeasuredTwiceBeforeOneRoundIsBelieved) {
  std::vector<RacePlan> plans;
  std::vector<PlanStanding> standings(8);
  std::vector<std::size_t> group;
  for (std::size_t i = 0; i < standings.size(); ++i) {
    // The first is the front, each other further behind it.
    const double behind = 0.1 * static_cast<double>(i);
    standings[i].latency.logarithm = behind;
    standings[i].throughput.logarithm = -behind;
    plans.push_back(predicted(1, 1));
    group.push_back(i);
    // The second was never measured.
    if (i != 1) measure(plans[i], 1, 1, 1);
  }
  RaceRules rules;
  rules.second_look = 3;
  EXPECT_THAT(second_look(group, plans, standings, rules), UnorderedElementsAre(0, 2, 3));
  measure(plans[5], 1, 1, 1);
  EXPECT_THAT(second_look(group, plans, standings, rules), UnorderedElementsAre(0, 2))
      << "one was measured twice already";
  rules.second_look = 0;
  EXPECT_THAT(second_look(group, plans, standings, rules), IsEmpty());
}

}  // namespace
}  // namespace pareto::statistics
