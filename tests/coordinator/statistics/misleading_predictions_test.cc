// Plans of the front are not lost to predictions that are wrong. Predictions that are right save as
// much as before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "coordinator/statistics/front_race.h"
#include "tests/coordinator/statistics/simulated_sweep.h"

namespace pareto::statistics {
namespace {

using test::SimulatedSweep;

/// Changes what is predicted of a group.
using Spoil = std::function<void(std::vector<RacePlan*>& group, Random& random)>;

/// Gives each plan what is predicted of another.
void shuffle(std::vector<RacePlan*>& group, Random& random) {
  const std::vector<std::size_t> order = random.permutation(group.size());
  std::vector<std::optional<LogFigures>> predicted;
  for (const RacePlan* const plan : group) predicted.push_back(plan->predicted);
  for (std::size_t i = 0; i < group.size(); ++i) group[i]->predicted = predicted[order[i]];
}

/// Calls each plan twice as fast or twice as slow as it is.
void double_or_halve(std::vector<RacePlan*>& group, Random& random) {
  for (RacePlan* const plan : group) {
    const double wrong = random.uniform() < 0.5 ? -std::numbers::ln2 : std::numbers::ln2;
    plan->predicted->latency += wrong;
    plan->predicted->throughput -= wrong;
  }
}

/// Calls a part of the model slow that is not: half of the plans have it on their first device.
void slow_one_part(std::vector<RacePlan*>& group, Random& /*random*/) {
  constexpr double kSeconds = 0.03;
  for (std::size_t i = group.size() / 2; i < group.size(); ++i) {
    LogFigures& predicted = *group[i]->predicted;
    predicted.latency = std::log(std::exp(predicted.latency) + kSeconds);
    predicted.throughput = -std::log(std::exp(-predicted.throughput) + kSeconds);
  }
}

/// The plans of the front over several sweeps, and those that are said to be off it unmeasured.
struct Losses {
  std::size_t front = 0;
  std::size_t lost = 0;
  double volume = 0;  ///< share that the plans measured reach of what all do
};

/// Runs races for a tenth of the rounds that three of each plan would be.
Losses losses_with(const Spoil& spoil) {
  constexpr int kSweeps = 3;
  Losses losses;
  for (int seed = 1; seed <= kSweeps; ++seed) {
    SimulatedSweep sweep(static_cast<std::uint64_t>(seed), 0.01);
    std::map<int, std::vector<RacePlan*>> groups;
    for (RacePlan& plan : sweep.plans) groups[plan.group].push_back(&plan);
    Random random(static_cast<std::uint64_t>(seed));
    for (auto& [group, members] : groups) spoil(members, random);
    RaceRules rules;
    rules.widest_pass = 16;
    std::size_t left = sweep.plans.size() * 3 / 10;
    RaceState state = judge_race(sweep.plans, rules);
    for (int pass = 0; !state.next_pass.empty() && state.next_pass.size() <= left; ++pass) {
      left -= state.next_pass.size();
      sweep.measure(state.next_pass, pass);
      state = judge_race(sweep.plans, rules);
    }
    for (std::size_t i = 0; i < sweep.plans.size(); ++i) {
      if (truly_beaten(sweep, i)) continue;
      ++losses.front;
      const bool is_out = state.standings[i].decided && state.standings[i].p_front < 0.05;
      if (is_out && sweep.plans[i].rounds.empty()) ++losses.lost;
    }
    for (int group = 0; group < SimulatedSweep::kGroups; ++group) {
      const auto seen = [&](std::size_t i) { return !sweep.plans[i].rounds.empty(); };
      losses.volume += hypervolume(sweep, group, seen) /
                       hypervolume(sweep, group, [](std::size_t) { return true; });
    }
  }
  losses.volume /= kSweeps * SimulatedSweep::kGroups;
  return losses;
}

TEST(MisleadingPredictions, LoseNoPlanOfTheFrontUnmeasured) {
  const std::map<std::string, Spoil> ways{{"shuffled", shuffle},
                                          {"factor 2", double_or_halve},
                                          {"a part is called slow", slow_one_part}};
  for (const auto& [name, spoil] : ways) {
    const Losses losses = losses_with(spoil);
    EXPECT_GE(losses.front, 100U);
    EXPECT_LE(losses.lost * 50, losses.front) << name << ": more than 2 % are lost";
    EXPECT_GE(losses.volume, 0.87) << name;
  }
}

TEST(MisleadingPredictions, GoodOnesFindTheFrontWithATenthOfTheRounds) {
  const Losses losses = losses_with([](auto&, Random&) {});
  EXPECT_LE(losses.lost * 50, losses.front) << losses.lost << " of " << losses.front;
  EXPECT_GE(losses.volume, 0.985);
}

RacePlan plan_of(double ms, double place) {
  RacePlan plan;
  plan.features = {place};
  plan.predicted = {{std::log(ms), -std::log(ms)}};
  return plan;
}

/// Forty plans of 10, 11, 12 … ms, of which the first eight were measured.
std::vector<RacePlan> forty_plans(const std::function<double(std::size_t)>& measured_ms) {
  std::vector<RacePlan> plans;
  for (std::size_t i = 0; i < 40; ++i) {
    const auto place = static_cast<double>(i);
    plans.push_back(plan_of(10 + place, place / 10));
    if (i >= 8) continue;
    const double logarithm = std::log(measured_ms(i));
    for (int pass = 0; pass < 3; ++pass) {
      plans.back().rounds.push_back({pass, {logarithm, -logarithm}, {0.002, 0.002}});
    }
  }
  return plans;
}

std::size_t decided_unmeasured(const std::vector<RacePlan>& plans) {
  RaceRules rules;
  rules.far_look = 0;
  const RaceState state = judge_race(plans, rules);
  std::size_t count = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].rounds.empty() && state.standings[i].decided) ++count;
  }
  return count;
}

TEST(MisleadingPredictions, PredictionsWhoseOrderIsNotKeptRuleOutNothing) {
  const auto as_predicted = [](std::size_t i) { return 10.0 + static_cast<double>(i); };
  EXPECT_EQ(decided_unmeasured(forty_plans(as_predicted)), 32U);
  EXPECT_EQ(decided_unmeasured(forty_plans([&](std::size_t i) { return 3 * as_predicted(i); })),
            32U)
      << "what all have in common breaks no order";
  EXPECT_EQ(decided_unmeasured(forty_plans([&](std::size_t i) { return as_predicted(7 - i); })),
            0U);
}

TEST(MisleadingPredictions, PredictionsOfABusyMachineRuleOutNothingUntilTheyAreProved) {
  const auto alike = [](std::size_t i) { return i < 3 ? 10.0 + static_cast<double>(i) : 12.5; };
  std::vector<RacePlan> plans = forty_plans(alike);
  for (std::size_t i = 3; i < 8; ++i) plans[i].rounds.clear();
  EXPECT_GT(decided_unmeasured(plans), 20U);
  for (RacePlan& plan : plans) plan.doubted = true;
  EXPECT_EQ(decided_unmeasured(plans), 0U) << "three plans prove nothing";
  std::vector<RacePlan> proved =
      forty_plans([](std::size_t i) { return 10.0 + static_cast<double>(i); });
  for (RacePlan& plan : proved) plan.doubted = true;
  EXPECT_EQ(decided_unmeasured(proved), 32U);
}

TEST(MisleadingPredictions, PredictionsDoNotProveThemselvesWhereRoundsDifferMuch) {
  // The rounds of a plan differ by a factor of nine, and say the opposite of what is predicted. A
  // race then believes the predictions, which is no evidence for them.
  std::vector<RacePlan> plans =
      forty_plans([](std::size_t i) { return 17.0 - static_cast<double>(i); });
  for (std::size_t i = 0; i < 8; ++i) {
    plans[i].rounds.resize(2);
    for (RaceRound& round : plans[i].rounds) {
      const bool is_slow = (round.pass == 0) == (i % 2 == 0);
      round.figures.latency += is_slow ? std::log(3) : -std::log(3);
      round.figures.throughput -= is_slow ? std::log(3) : -std::log(3);
    }
  }
  EXPECT_EQ(decided_unmeasured(plans), 0U);
  for (RacePlan& plan : plans) plan.doubted = true;
  EXPECT_EQ(decided_unmeasured(plans), 0U);
}

TEST(MisleadingPredictions, AFarLookIsTakenAtPlansThatPredictionsPutFarBehind) {
  std::vector<RacePlan> plans =
      forty_plans([](std::size_t i) { return 10.0 + static_cast<double>(i); });
  for (std::size_t i = 3; i < 8; ++i) plans[i].rounds.clear();
  RaceRules rules;
  rules.first_look = 3;
  const RaceState state = judge_race(plans, rules);
  EXPECT_THAT(state.next_pass, testing::Contains(39U)) << "the least like those that were measured";
  plans[39].rounds = plans[38].rounds = plans[0].rounds;
  for (const std::size_t far : {38U, 39U}) {
    for (RaceRound& round : plans[far].rounds) round.figures = *plans[far].predicted;
  }
  EXPECT_THAT(judge_race(plans, rules).next_pass, testing::IsEmpty()) << "predictions hold there";
}

}  // namespace
}  // namespace pareto::statistics
