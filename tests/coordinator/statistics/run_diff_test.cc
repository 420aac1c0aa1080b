#include "coordinator/statistics/run_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "coordinator/results/shown_figure.h"
#include "coordinator/statistics/comparability.h"
#include "tests/support/simulated_rounds.h"
#include "tests/support/synthetic_run.h"

namespace pareto::statistics {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kTolerance = 0.02;

/// Multiplies all figures of a trial by this factor.
void slow_down(results::TrialRecord& trial, double factor) {
  trial.latency.p50_ms *= factor;
  trial.throughput.samples_per_s /= factor;
  for (results::TrialRound& round : trial.rounds) {
    for (double& ms : round.latency_ms) ms *= factor;
    for (double& interval : round.intervals_s) interval *= factor;
  }
}

class RunDiffTest : public testing::Test {
 protected:
  RunDiffTest() { b_.id = "20260201-101502-cd34"; }

  const test::SyntheticOptions small_{.batches = {1}, .split_points = 4, .with_failure = false};
  results::RunRecord a_ = test::synthetic_run(small_);
  results::RunRecord b_ = a_;
};

TEST_F(RunDiffTest, TheRatioIsThatOfTheFiguresShown) {
  // As an adaptive sweep has it: its rounds say that b is as fast, and all that is known says not.
  results::TrialRecord& believed = b_.trials[2];
  believed.latency.p50_ms *= 1.5;
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff) << diff.error().message;
  const PlanDiff& first = diff->plans.front();
  EXPECT_EQ(first.b, &believed);
  EXPECT_DOUBLE_EQ(first.latency.ratio.value, first.latency.b / first.latency.a);
  EXPECT_NEAR(first.latency.ratio.value, 1.5, 1e-9);
  EXPECT_LT(first.latency.ratio.ci975->low, 1.5);
  EXPECT_GT(first.latency.ratio.ci975->high, 1.5);
}

TEST_F(RunDiffTest, TheFiguresAreThoseThatTheRunsShow) {
  // The median of the rounds grew, and their mean fell.
  const auto set_rates = [](results::TrialRecord& trial, const std::vector<double>& rates) {
    trial.rounds.clear();
    for (const double rate : rates) {
      results::TrialRound& round = trial.rounds.emplace_back();
      round.round = static_cast<int>(trial.rounds.size()) - 1;
      round.latency_ms.assign(12, 1000 / rate);
      round.intervals_s.assign(12, 1 / rate);
    }
    trial.throughput.measured_per_s = trial.throughput.samples_per_s = rates[1];
    trial.latency.measured_p50_ms = trial.latency.p50_ms = 1000 / rates[1];
  };
  set_rates(a_.trials[2], {38, 38.8, 64});
  set_rates(b_.trials[2], {20, 44.2, 45});
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff) << diff.error().message;
  const auto plan = std::ranges::find(diff->plans, &b_.trials[2], &PlanDiff::b);
  ASSERT_NE(plan, diff->plans.end());
  const FigureDiff& rate = plan->throughput;
  EXPECT_EQ(rate.a, 38.8);
  EXPECT_EQ(rate.b, 44.2);
  EXPECT_NEAR(rate.ratio.a, std::cbrt(38 * 38.8 * 64), 1e-6) << "that is what the ratio is of";
  EXPECT_NEAR(rate.ratio.value, rate.ratio.b / rate.ratio.a, 1e-9);
  EXPECT_LT(rate.ratio.value, 1);
}

TEST_F(RunDiffTest, NothingIsCalledSlowerWhoseFigureBecameBetter) {
  slow_down(b_.trials[2], 1.5);
  ASSERT_EQ(diff_runs(a_, b_, kTolerance)->regressions(), 1U);
  // The medians of the run as shown, which its rounds contradict.
  for (double results::LatencyFigures::*p50 :
       {&results::LatencyFigures::p50_ms, &results::LatencyFigures::measured_p50_ms}) {
    b_.trials[2].latency.*p50 = a_.trials[2].latency.p50_ms * 0.99;
  }
  for (double results::ThroughputFigures::*rate :
       {&results::ThroughputFigures::samples_per_s, &results::ThroughputFigures::measured_per_s}) {
    b_.trials[2].throughput.*rate = a_.trials[2].throughput.samples_per_s * 1.01;
  }
  b_.trials[2].latency.p50_ms = results::shown_figure(b_.trials[2].latency.p50_ms);
  b_.trials[2].throughput.samples_per_s =
      results::shown_figure(b_.trials[2].throughput.samples_per_s);
  const auto diff = diff_runs(a_, b_, kTolerance);
  EXPECT_EQ(diff->regressions(), 0U);
  const auto plan = std::ranges::find(diff->plans, &b_.trials[2], &PlanDiff::b);
  ASSERT_NE(plan, diff->plans.end());
  EXPECT_EQ(plan->change, Change::kCannotTell);
}

TEST_F(RunDiffTest, FindsWhatChangedAndSortsIt) {
  slow_down(b_.trials[3], 1.5);
  slow_down(b_.trials[5], 2);
  slow_down(b_.trials[1], 0.5);
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_THAT(diff->warnings, IsEmpty());
  ASSERT_THAT(diff->plans, SizeIs(a_.trials.size()));
  EXPECT_EQ(diff->plans[0].a->id, a_.trials[5].id);
  EXPECT_EQ(diff->plans[0].change, Change::kRegressed);
  EXPECT_NEAR(diff->plans[0].latency.ratio.value, 2, 1e-9);
  EXPECT_NEAR(diff->plans[0].throughput.ratio.value, 0.5, 1e-9);
  EXPECT_TRUE(diff->plans[0].latency.regressed);
  EXPECT_FALSE(diff->plans[0].latency.ratio.paired);
  EXPECT_EQ(diff->plans[1].b->id, b_.trials[3].id);
  EXPECT_EQ(diff->plans[2].change, Change::kFaster);
  EXPECT_EQ(diff->plans[2].a->id, a_.trials[1].id);
  EXPECT_EQ(diff->count(Change::kRegressed), 2U);
  EXPECT_EQ(diff->regressions(), 2U);
  for (std::size_t i = 3; i < diff->plans.size(); ++i) {
    EXPECT_GE(diff->plans[i].change, Change::kCannotTell);
  }
}

TEST_F(RunDiffTest, PlansOfOneRunOnlyAreListed) {
  a_.trials[0].transport = "shm";
  b_.trials[1].batch = 3;
  b_.trials[2].plan.micro_batch = 1;
  b_.trials[3].plan.stages.front().device = "pi-9";
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_THAT(diff->only_in_a, SizeIs(4));
  EXPECT_THAT(diff->only_in_b, SizeIs(4));
  EXPECT_THAT(diff->plans, SizeIs(a_.trials.size() - 4));
  EXPECT_EQ(diff->regressions(), 0U);
}

TEST_F(RunDiffTest, PlansThatDifferInSettingsAloneAreToldApartByTheirNames) {
  for (results::RunRecord* run : {&a_, &b_}) {
    run->trials.resize(2);
    run->trials[1] = run->trials[0];
    for (const std::size_t i : {0, 1}) {
      results::TrialRecord& trial = run->trials[i];
      trial.name = trial.id = i == 0 ? "fp32" : "bf16";
      trial.plan.settings.precision = trial.name;
    }
    slow_down(run->trials[1], 0.5);
  }
  std::swap(b_.trials[0], b_.trials[1]);
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff) << diff.error().message;
  EXPECT_THAT(diff->warnings, IsEmpty());
  ASSERT_THAT(diff->plans, SizeIs(2));
  for (const PlanDiff& plan : diff->plans) EXPECT_EQ(plan.a->name, plan.b->name);
  EXPECT_EQ(diff->regressions(), 0U);
}

TEST_F(RunDiffTest, APlanWhoseNetworkCouldNotBeHadIsNone) {
  b_.trials[2].status = results::TrialStatus::kSkipped;
  b_.trials[2].failure = "the link is not what was asked for";
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff) << diff.error().message;
  ASSERT_THAT(diff->only_in_a, SizeIs(1));
  EXPECT_EQ(diff->only_in_a[0].failure, "");
  EXPECT_EQ(diff->regressions(), 0U);
}

TEST_F(RunDiffTest, APlanThatFailsNowIsARegression) {
  b_.trials[2].status = results::TrialStatus::kFailed;
  b_.trials[2].failure = "no result within 30 s";
  a_.trials[4].latency = {};
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff) << diff.error().message;
  ASSERT_THAT(diff->only_in_a, SizeIs(1));
  EXPECT_EQ(diff->only_in_a[0].failure, "no result within 30 s");
  ASSERT_THAT(diff->only_in_b, SizeIs(1));
  EXPECT_EQ(diff->only_in_b[0].failure, "");
  EXPECT_EQ(diff->regressions(), 1U);
}

TEST_F(RunDiffTest, OtherModelsAndInputsAreRefused) {
  b_.model_digest = std::string(64, 'b');
  const auto other_model = diff_runs(a_, b_, kTolerance);
  ASSERT_FALSE(other_model);
  EXPECT_EQ(other_model.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(other_model.error().message, HasSubstr("other models"));
  b_ = a_;
  for (results::TrialRecord& trial : b_.trials) trial.links.front().bytes *= 4;
  const auto other_input = diff_runs(a_, b_, kTolerance);
  ASSERT_FALSE(other_input);
  EXPECT_THAT(other_input.error().message, HasSubstr("inputs of after:features.0/tcp/b1"));
  b_ = a_;
  for (results::TrialRecord& trial : b_.trials) trial.condition = "lte";
  const auto nothing = diff_runs(a_, b_, kTolerance);
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message,
              HasSubstr("no plan was measured in both: network none in A and lte in B"));
  b_ = a_;
  a_.trials.resize(1);
  b_.trials.erase(b_.trials.begin());
  b_.trials.resize(1);
  const auto other_cuts = diff_runs(a_, b_, kTolerance);
  ASSERT_FALSE(other_cuts);
  EXPECT_THAT(other_cuts.error().message,
              HasSubstr("no plan was measured in both: each measured other cuts"));
}

TEST_F(RunDiffTest, OtherSettingsAndDevicesAreTold) {
  for (results::TrialRecord& trial : b_.trials) {
    trial.plan.settings.precision = "bf16";
    trial.plan.settings.threads = 2;
    trial.plan.settings.engine = "plain";
    trial.plan.window = 8;
  }
  b_.devices[1].cpu = "Cortex-A53";
  b_.devices[0].torch_version = "2.1.0";
  b_.finished.clear();
  const auto warnings = compare_settings(a_, b_);
  ASSERT_TRUE(warnings);
  EXPECT_THAT(*warnings, SizeIs(7)) << "each once";
  EXPECT_THAT(*warnings, Contains("precision: fp32 in A, bf16 in B"));
  EXPECT_THAT(*warnings, Contains("threads: 0 in A, 2 in B"));
  EXPECT_THAT(*warnings, Contains("engine: auto in A, plain in B"));
  EXPECT_THAT(*warnings, Contains("window asked for: auto in A, 8 in B"));
  EXPECT_THAT(*warnings, Contains("cpu of pi-2: Cortex-A72 in A, Cortex-A53 in B"));
  EXPECT_THAT(*warnings, Contains("LibTorch of pi-1: 1.13.1 in A, 2.1.0 in B"));
  EXPECT_THAT(*warnings, Contains("run 20260201-101502-cd34 is not finished"));
}

TEST_F(RunDiffTest, WhatDevicesRunOnIsToldWhereBothRunsKeptIt) {
  b_.devices[0].threads = 4;
  b_.devices[1].runs_on = "cuda:0";
  b_.devices[1].cores = 2;
  EXPECT_THAT(*compare_settings(a_, b_), testing::ElementsAre("threads of pi-1: 1 in A, 4 in B"));
  a_.devices[1].runs_on = "cpu";
  a_.devices[1].cores = 4;
  const auto warnings = compare_settings(a_, b_);
  ASSERT_TRUE(warnings);
  EXPECT_THAT(*warnings, SizeIs(3));
  EXPECT_THAT(*warnings, Contains("compute device of pi-2: cpu in A, cuda:0 in B"));
  EXPECT_THAT(*warnings, Contains("cores of pi-2: 4 in A, 2 in B"));
}

TEST_F(RunDiffTest, AnotherNetworkOfTheSameNameIsTold) {
  a_.options_json = R"({"networks":{"lte":"forward: {rate: 9bit}\nbackward: {}\n","wifi":"x"}})";
  b_.options_json = R"({"networks":{"lte":"forward: {rate: 8bit}\nbackward: {}\n","wifi":"x"}})";
  EXPECT_THAT(*compare_settings(a_, b_),
              testing::ElementsAre("network lte: forward: {rate: 9bit} backward: {} in A, forward: "
                                   "{rate: 8bit} backward: {} in B"));
  for (const char* unknown : {R"({"networks":{}})", "{}", ""}) {
    b_.options_json = unknown;
    EXPECT_THAT(*compare_settings(a_, b_), IsEmpty()) << unknown;
  }
}

TEST_F(RunDiffTest, ASlowerMachineIsTold) {
  a_.passes = {{0, 16.9, 1.00, false}, {1, 16.3, 1.01, false}, {2, 16.7, 1.02, false}};
  b_.passes = a_.passes;
  EXPECT_THAT(*compare_settings(a_, b_), IsEmpty());
  for (results::PassRecord& pass : b_.passes) pass.loop_ms *= 1.3;
  const auto warnings = compare_settings(a_, b_);
  ASSERT_THAT(*warnings, SizeIs(1));
  EXPECT_THAT(warnings->front(), HasSubstr("1.300 ["));
  EXPECT_THAT(machine_ratio(a_, b_).value, testing::DoubleNear(1.3, 1e-9));
}

TEST_F(RunDiffTest, WhatASlowerMachineExplainsIsNoRegression) {
  a_.passes = {{0, 16.9, 1.00, false}, {1, 16.3, 1.01, false}, {2, 16.7, 1.02, false}};
  b_.passes = a_.passes;
  for (results::PassRecord& pass : b_.passes) pass.loop_ms *= 1.5;
  for (results::TrialRecord& trial : b_.trials) slow_down(trial, 1.5);
  slow_down(b_.trials[1], 2);
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->regressions(), 1U);
  EXPECT_EQ(diff->plans[0].a->id, a_.trials[1].id);
  EXPECT_NEAR(diff->plans[0].latency.ratio.value, 3, 1e-9) << "as it was measured";
  EXPECT_EQ(diff->count(Change::kCannotTell), a_.trials.size() - 1);
  // A faster machine is no excuse for a slower plan.
  for (results::PassRecord& pass : b_.passes) pass.loop_ms /= 2.25;
  EXPECT_EQ(diff_runs(a_, b_, kTolerance)->regressions(), a_.trials.size());
}

TEST_F(RunDiffTest, ACodecLeftOpenIsOnePlanWhicheverWasChosen) {
  for (results::RunRecord* run : {&a_, &b_}) {
    run->trials[0].auto_codec = true;
    run->trials[0].codec = run == &a_ ? "lz4" : "none";
  }
  const auto diff = diff_runs(a_, b_, kTolerance);
  ASSERT_TRUE(diff);
  EXPECT_THAT(diff->plans, SizeIs(a_.trials.size()));
  EXPECT_THAT(diff->warnings, Contains(HasSubstr("lz4 in A, none in B")));
  b_.trials[0].auto_codec = false;
  EXPECT_FALSE(same_plan(a_.trials[0], b_.trials[0]));
}

TEST_F(RunDiffTest, TheSameSweepTwiceHasSeldomChanged) {
  std::size_t compared = 0;
  std::size_t differ = 0;
  std::size_t regressed = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::vector<double> latencies_ms{8, 9, 12, 15};
    const auto sweep = [&](results::RunRecord& run, std::uint64_t seed) {
      test::SimulatedRun machine({}, 3, seed);
      for (std::size_t plan = 0; plan < latencies_ms.size(); ++plan) {
        results::TrialRecord& trial = run.trials[plan];
        trial.rounds = machine.measure(trial.id, latencies_ms[plan], 200).rounds;
      }
      run.trials.resize(latencies_ms.size());
    };
    sweep(a_, 100 + i);
    sweep(b_, 90'000 + i);
    const auto diff = diff_runs(a_, b_, kTolerance);
    ASSERT_TRUE(diff);
    for (const PlanDiff& plan : diff->plans) {
      for (const FigureDiff* figure : {&plan.latency, &plan.throughput}) {
        ++compared;
        const bool unchanged =
            figure->verdict == Verdict::kSame || figure->verdict == Verdict::kCannotTell;
        differ += unchanged ? 0 : 1;
        regressed += figure->regressed ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(compared, 320U);
  EXPECT_LE(differ, compared / 20);
  EXPECT_LE(regressed, compared / 40);
}

TEST_F(RunDiffTest, TwoPlansOfOneRunArePaired) {
  test::SimulatedRun machine({.drift = 0.3, .unit = 0.002, .noise = 0.01}, 4, 3);
  for (const auto& [id, ms] : {std::pair("slow", 12.0), std::pair("fast", 10.0)}) {
    results::TrialRecord trial = machine.measure(id, ms, 1000 / ms);
    trial.latency.samples = 48;
    a_.trials.push_back(std::move(trial));
  }
  const auto diff = diff_trials(a_, "slow", "fast", kTolerance);
  ASSERT_TRUE(diff) << diff.error().message;
  ASSERT_THAT(diff->plans, SizeIs(1));
  EXPECT_EQ(diff->plans[0].change, Change::kFaster);
  EXPECT_TRUE(diff->plans[0].latency.ratio.paired);
  EXPECT_NEAR(diff->plans[0].latency.ratio.value, 10.0 / 12, 0.02);
  EXPECT_EQ(diff_trials(a_, "fast", "slow", kTolerance)->regressions(), 1U);

  // As an adaptive sweep leaves them.
  for (results::TrialRound& round : a_.trials.back().rounds) round.round += 100;
  const auto apart = diff_trials(a_, "slow", "fast", kTolerance);
  ASSERT_FALSE(apart);
  EXPECT_THAT(apart.error().message, HasSubstr("never measured in the same round"));

  const auto unknown = diff_trials(a_, "slo", "fast", kTolerance);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean slow"));
  a_.trials[0].status = results::TrialStatus::kFailed;
  a_.trials[0].failure = "gone";
  EXPECT_THAT(diff_trials(a_, a_.trials[0].id, "fast", kTolerance).error().message,
              HasSubstr("not measured: gone"));
}

}  // namespace
}  // namespace pareto::statistics
