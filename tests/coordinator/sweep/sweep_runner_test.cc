#include "coordinator/sweep/sweep_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "coordinator/results/time_spent.h"
#include "coordinator/statistics/statistics.h"
#include "tests/coordinator/sweep/sweep_runner_fixture.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(SweepRunnerTest, ADeviceHasAsLongToAnswerAsWasAskedFor) {
  daemons_[1]->hang();
  options_.timeout_ms = 100;
  options_.rounds = 1;
  ASSERT_TRUE(sweep());
  EXPECT_THAT(trial("all-on:b").failure,
              AllOf(HasSubstr("no result in 0.1 s"), HasSubstr("--timeout")));
}

TEST_F(SweepRunnerTest, MeasuresEveryTrialInEveryRound) {
  ASSERT_TRUE(sweep());
  EXPECT_EQ(store_.trials.size(), 5U);
  for (const results::TrialRecord& measured : run_.trials) {
    ASSERT_EQ(measured.status, results::TrialStatus::kOk) << measured.failure;
    EXPECT_GE(measured.latency.samples, 24);
    ASSERT_EQ(measured.rounds.size(), 3U);
    for (int round = 0; round < 3; ++round) {
      const results::TrialRound& samples = measured.rounds[static_cast<std::size_t>(round)];
      EXPECT_EQ(samples.round, round);
      EXPECT_EQ(samples.loading, 0);
      EXPECT_EQ(samples.latency_ms.size(), samples.sink_receive_ms.size());
      EXPECT_EQ(samples.stages.size(), measured.plan.stages.size());
      EXPECT_FALSE(samples.intervals_s.empty());
    }
    EXPECT_EQ(store_.trials.at(measured.id).rounds.size(), 3U);
    EXPECT_GT(measured.throughput.samples_per_s, 0);
    EXPECT_GE(measured.throughput.window, 1);
    for (const results::TrialRound& samples : measured.rounds) {
      EXPECT_EQ(samples.window, measured.throughput.window);
    }
    EXPECT_LE(measured.latency.ci95_ms.low, measured.latency.p50_ms);
    EXPECT_LE(measured.latency.p90_ms, measured.latency.p95_ms);
    EXPECT_LE(measured.latency.p95_ms, measured.latency.p99_ms);
    EXPECT_GT(measured.latency.p95_ms, 0);
    EXPECT_GE(measured.latency.ci95_ms.high, measured.latency.p50_ms);
    EXPECT_EQ(measured.stages.size(), measured.plan.stages.size());
    ASSERT_EQ(measured.links.size(), measured.stages.size() + 1);
    EXPECT_EQ(measured.links.front().bytes, 4 * sizeof(float));
    const results::TimeSplit& split = measured.time_split;
    EXPECT_NEAR(split.compute_ms + split.transfer_ms + split.wait_ms, measured.latency.p50_ms,
                1e-9);
    double compute_ms = 0;
    for (const results::StageFigures& stage : measured.stages) compute_ms += stage.compute_p50_ms;
    double transfer_ms = 0;
    for (const results::LinkFigures& link : measured.links) transfer_ms += link.transfer_p50_ms;
    EXPECT_NEAR(split.transfer_ms * compute_ms, split.compute_ms * transfer_ms, 1e-9)
        << "neither is cut";
  }
  EXPECT_TRUE(std::ranges::any_of(run_.trials, &results::TrialRecord::on_front));
  EXPECT_FALSE(run_.finished.empty());
  EXPECT_THAT(run_.note, AllOf(HasSubstr("3 rounds"), HasSubstr("Measured again: "),
                               HasSubstr("bootstrap resamples of rounds")));
  // Three rounds of five trials, and those that were disturbed once more.
  ASSERT_GE(run_.passes.size(), 3U);
  const bool again = run_.passes.size() > 3;
  EXPECT_EQ(progress_.back().done, again ? 5U : 15U);
  EXPECT_EQ(progress_.back().total, again ? 5U : 15U) << "no total grows";
  EXPECT_EQ(progress_.front().measured_trials, 0U);
  EXPECT_EQ(progress_.back().measured_trials, 5U);
  EXPECT_EQ(progress_.back().trials, 5U);
  for (std::size_t i = 0; i < run_.passes.size(); ++i) {
    EXPECT_EQ(run_.passes[i].repeat, i >= 3);
    EXPECT_GT(run_.passes[i].plan_ms, 0);
    EXPECT_GT(run_.passes[i].loop_ms, 0);
  }
  EXPECT_THAT(run_.note, HasSubstr("all-on:a"));
  // Each device loaded its four shards once, and was sent each weight once.
  EXPECT_EQ(daemons_[0]->loads(), 4);
  EXPECT_EQ(daemons_[1]->loads(), 4);
  for (const results::DeviceRecord& device : run_.devices) {
    EXPECT_EQ(device.weights_sent_bytes, test::kFakeOperators * test::kFakeWeightBytes);
  }
  EXPECT_EQ(daemons_[0]->open_stages(), 0U);
  EXPECT_EQ(daemons_[0]->loaded_shards(), 0U);
}

TEST_F(SweepRunnerTest, RoundsAreShuffledAndTheSeedRepeatsThem) {
  const auto order = [this] {
    std::vector<std::string> seen;
    for (const SweepProgress& now : progress_) {
      const bool unit = now.now.starts_with("round") && now.now.find("again") == std::string::npos;
      if (unit && (seen.empty() || seen.back() != now.now)) seen.push_back(now.now);
    }
    return seen;
  };
  const std::vector<results::TrialRecord> planned = run_.trials;
  ASSERT_TRUE(sweep());
  const auto first = order();
  EXPECT_EQ(first.size(), 15U);
  progress_.clear();
  run_.trials = planned;
  run_.passes.clear();
  ASSERT_TRUE(sweep());
  EXPECT_EQ(order(), first);
  progress_.clear();
  run_.trials = planned;
  run_.passes.clear();
  run_.seed = 6;
  ASSERT_TRUE(sweep());
  EXPECT_NE(order(), first);
}

TEST_F(SweepRunnerTest, ACodecLeftOpenIsChosenOnceAndKept) {
  run_.trials[0].plan.splits = {"cut2"};
  run_.trials[0].plan.codecs = {"auto"};
  run_.trials[0].codec = "auto";
  run_.trials[0].auto_codec = true;
  daemons_[0]->set_codec_costs({{.codec = "none", .bytes = 200}, {.codec = "lz4", .bytes = 100}},
                               {});
  // From the second round on it would be another one.
  on_progress_ = [this](const SweepProgress& now) {
    if (now.done == 5) {
      daemons_[0]->set_codec_costs({{.codec = "none", .bytes = 1}}, {});
    }
  };
  ASSERT_TRUE(sweep());
  EXPECT_EQ(trial("cut2").codec, "lz4");
  EXPECT_TRUE(trial("cut2").auto_codec);
  EXPECT_EQ(trial("cut2").plan.codecs, std::vector<std::string>{"lz4"});
  EXPECT_EQ(store_.trials.at("cut2").codec, "lz4");
  EXPECT_EQ(trial("cut5").codec, "none");
  EXPECT_FALSE(trial("cut5").auto_codec);
}

TEST_F(SweepRunnerTest, FitsDevicesThatHoldOnlyAFewShards) {
  for (test::FakeDaemon* daemon : daemons_) {
    daemon->set_memory_limit(21 * test::kFakeWeightBytes);
  }
  ASSERT_TRUE(sweep());
  for (const results::TrialRecord& measured : run_.trials) {
    EXPECT_EQ(measured.status, results::TrialStatus::kOk) << measured.failure;
  }
  EXPECT_TRUE(std::ranges::any_of(run_.trials, [](const results::TrialRecord& trial) {
    return trial.rounds.back().loading > 0;
  })) << "shards that were unloaded for others come back as others";
  for (const test::FakeDaemon* daemon : daemons_) {
    EXPECT_GT(daemon->loads(), 4);
    EXPECT_EQ(daemon->weights_sent_bytes(), test::kFakeOperators * test::kFakeWeightBytes);
  }
}

TEST_F(SweepRunnerTest, StopsBetweenUnitsAndGoesOnWithTheRoundThatItWasIn) {
  on_progress_ = [this](const SweepProgress& now) { stop_ = now.done >= 7; };
  ASSERT_TRUE(sweep());
  EXPECT_TRUE(run_.finished.empty());
  ASSERT_EQ(store_.trials.size(), 5U);
  std::size_t rounds = 0;
  std::map<std::string, std::vector<double>> first_round;
  std::map<std::string, std::vector<double>> half_a_round;
  for (const auto& [id, stored] : store_.trials) {
    rounds += stored.rounds.size();
    first_round[id] = stored.rounds.at(0).latency_ms;
    if (stored.rounds.size() > 1) half_a_round[id] = stored.rounds[1].latency_ms;
    EXPECT_GT(stored.latency.p50_ms, 0) << "figures are from what there is";
  }
  EXPECT_EQ(rounds, 7U);
  EXPECT_TRUE(std::ranges::any_of(store_.updated->trials, &results::TrialRecord::on_front));
  ASSERT_EQ(store_.updated->passes.size(), 2U);
  EXPECT_TRUE(store_.updated->passes[0].whole);
  EXPECT_FALSE(store_.updated->passes[1].whole);
  EXPECT_GT(store_.updated->passes[1].seconds, 0);
  EXPECT_GT(store_.updated->passes[1].spent.total_s, 0);

  stop_ = false;
  on_progress_ = nullptr;
  progress_.clear();
  ASSERT_TRUE(sweep());
  EXPECT_EQ(progress_.front().total, 10U) << "of the second round all five once more";
  EXPECT_FALSE(run_.finished.empty());
  for (const results::TrialRecord& measured : run_.trials) {
    ASSERT_EQ(measured.rounds.size(), 3U);
    EXPECT_EQ(measured.rounds[0].latency_ms, first_round[measured.id]);
    EXPECT_EQ(measured.rounds[0].loading, 0);
    EXPECT_EQ(measured.rounds[2].loading, 1) << "its shards were loaded anew";
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(measured.rounds[static_cast<std::size_t>(round)].round, round);
    }
  }
  EXPECT_EQ(half_a_round.size(), 2U);
  for (const auto& [id, latency_ms] : half_a_round) {
    EXPECT_NE(trial(id).rounds[1].latency_ms, latency_ms) << "of another day";
  }
}

TEST_F(SweepRunnerTest, TellsOfOthersAndOfCompanyWhileItMeasured) {
  options_.rounds = 1;
  cluster::Observation observation;
  observation.other_coordinators = 1;
  observation.other_pipelines = 2;
  daemons_[1]->set_observation(observation);
  ASSERT_TRUE(sweep());
  ASSERT_EQ(run_.passes.size(), 1U);
  const results::PassRecord& pass = run_.passes.front();
  ASSERT_EQ(pass.company.size(), 1U);
  EXPECT_EQ(pass.company[0].device, "b");
  EXPECT_EQ(pass.company[0].pipelines, 2);
  // The fakes tell nothing of their machines.
  for (const results::ForeignLoad& load : pass.others) {
    EXPECT_EQ(load.machine, results::kThisMachine);
    EXPECT_GE(load.share, 0);
    EXPECT_LE(load.share, 1);
  }
}

TEST_F(SweepRunnerTest, TellsWhereItsTimeWent) {
  const HastyClock clock;
  clock_ = &clock;
  options_.rounds = 1;
  run_.trials[0].condition = "lte";
  ASSERT_TRUE(sweep());
  const results::TimeSpent spent = results::time_spent(run_);
  // The clock moves 100 ms each time that it is looked at: once for each thing begun and once for
  // each ended.
  EXPECT_NEAR(spent.measuring_s, 0.1 * 5, 1e-9);
  EXPECT_NEAR(spent.loading_s, 0.1, 1e-9);
  EXPECT_NEAR(spent.sentinel_s, 0.1 * 2 * 2, 1e-9) << "its loop and its plan, before and after";
  EXPECT_NEAR(spent.network_s, 0.1 * (5 + 2), 1e-9);
  EXPECT_EQ(spent.openings_ms.size(), 6U) << "five trials' and the reference plan's";
  EXPECT_GT(spent.total_s, spent.measuring_s + spent.loading_s + spent.opening_s +
                               spent.sentinel_s + spent.network_s);
  EXPECT_GT(results::dead_share(spent), 0.5);
  EXPECT_LT(results::dead_share(spent), 1);
  // Warm-up, window search, fill and drain come to what figures are made of.
  std::int64_t seen = 0;
  for (const results::TrialRecord& measured : run_.trials) {
    seen += measured.latency.samples + measured.throughput.samples;
  }
  EXPECT_GT(spent.requests, seen + 5L * statistics::warm_up_requests(1));
}

}  // namespace
}  // namespace pareto::sweep
