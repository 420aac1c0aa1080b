#include "coordinator/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/sweep/sweep_plan_fixture.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(SweepPlanTest, ARunIsNewAndThenContinuedWithoutWhatItMeasured) {
  SweepOptions options;
  options.splits = "percent:60";
  results::RunRecord run = make_run(model_, cluster_, options, "sweep --splits percent:60").value();
  EXPECT_EQ(run.trials.size(), 6U);
  EXPECT_EQ(run.devices.size(), 2U);
  ASSERT_TRUE(run.coordinator);
  EXPECT_THAT(run.coordinator->os, HasSubstr("Linux"));
  EXPECT_EQ(run.model_digest, model_.digest().hex());
  EXPECT_TRUE(run.finished.empty());
  EXPECT_GT(run.model_weight_bytes, 1'000'000U);
  // What the store gives back: a trial with some of its rounds, and two failed ones.
  run.trials.resize(3);
  run.trials[0].rounds.resize(2);
  run.trials[0].latency.samples = 24;
  run.trials[0].latency.p50_ms = 7;
  run.trials[1].status = results::TrialStatus::kFailed;
  run.trials[1].rounds.resize(1);
  run.trials[2].status = results::TrialStatus::kFailed;
  ASSERT_TRUE(continue_run(model_, cluster_, options, run));
  ASSERT_EQ(run.trials.size(), 6U);
  EXPECT_EQ(run.trials[0].latency.p50_ms, 7);
  EXPECT_EQ(run.trials[0].rounds.size(), 2U);
  EXPECT_EQ(run.trials[1].rounds.size(), 1U);
  EXPECT_EQ(run.trials[2].status, results::TrialStatus::kOk);
  EXPECT_EQ(run.trials[2].latency.samples, 0);
  run.model_digest = "another";
  EXPECT_EQ(continue_run(model_, cluster_, options, run).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SweepPlanTest, ARunThatGoesOnKnowsWhoHasNoRoom) {
  SweepOptions options;
  options.splits = "percent:60";
  options.adaptive = true;
  results::RunRecord run = make_run(model_, cluster_, options, "sweep --adaptive").value();
  run.trials[0].prediction = results::Prediction{.latency_ms = 7, .samples_per_s = 100};
  for (const std::size_t failed : {1U, 2U}) {
    run.trials[failed].status = results::TrialStatus::kFailed;
    run.trials[failed].failure = "why";
  }
  run.trials[1].no_room = true;
  ASSERT_TRUE(continue_run(model_, cluster_, options, run));
  EXPECT_EQ(run.trials[0].prediction->latency_ms, 7);
  EXPECT_EQ(run.trials[1].status, results::TrialStatus::kFailed);
  EXPECT_EQ(run.trials[1].failure, "why");
  EXPECT_TRUE(run.trials[1].no_room);
  EXPECT_EQ(run.trials[2].status, results::TrialStatus::kOk) << "its device may be there again";
}

TEST_F(SweepPlanTest, ARunGoesOnOnTheDevicesThatItBeganOn) {
  SweepOptions options;
  options.splits = "percent:60";
  const results::RunRecord begun = make_run(model_, cluster_, options, "sweep").value();
  const auto refusal_on = [&](const cluster::Cluster& other, const SweepOptions& with) {
    results::RunRecord run = begun;
    const auto continued = continue_run(model_, other, with, run);
    return continued ? std::string("accepted") : continued.error().message;
  };
  EXPECT_EQ(refusal_on(cluster(2), options), "accepted");
  EXPECT_THAT(refusal_on(cluster(3), options),
              AllOf(HasSubstr("run " + begun.id), HasSubstr("the 3. was none and now is d2"),
                    HasSubstr("--devices")));
  EXPECT_THAT(refusal_on(cluster(1), options), HasSubstr("the 2. was d1"));
  SweepOptions threads = options;
  threads.settings.threads = 7;
  EXPECT_THAT(refusal_on(cluster(2), threads), HasSubstr("threads 7"));
  const auto with_another = [&](auto change) {
    std::vector<test::FakeDaemon*> daemons;
    auto devices = test::fake_devices({"d0", "d1"}, transport_, daemons);
    change(*daemons[1]);
    return cluster::Cluster::of(std::move(devices));
  };
  const auto refusal_after = [&](auto change) { return refusal_on(with_another(change), options); };
  const auto on_cuda = [](test::FakeDaemon& daemon) { daemon.set_device("cuda:0"); };
  const auto of_four_cores = [](test::FakeDaemon& daemon) { daemon.set_cores(4); };
  EXPECT_THAT(refusal_after([](test::FakeDaemon& daemon) { daemon.set_cpu("Cortex-A76"); }),
              HasSubstr("cpu Cortex-A76"));
  EXPECT_THAT(refusal_after(on_cuda), HasSubstr("runs on cuda:0"));
  EXPECT_THAT(refusal_after(of_four_cores), HasSubstr("cores 4"));
  // Of before these were kept.
  results::RunRecord old = begun;
  for (results::DeviceRecord& device : old.devices) {
    device.runs_on.clear();
    device.cores = 0;
  }
  EXPECT_TRUE(continue_run(model_, with_another(on_cuda), options, old));
  EXPECT_TRUE(continue_run(model_, with_another(of_four_cores), options, old));
}

TEST_F(SweepPlanTest, ARunOfSeveralSettingsGoesOnByEachOfThem) {
  SweepOptions options;
  options.splits = "percent:60";
  options.transports = {"tcp"};
  options.settings.threads = 1;
  options.more_settings = {options.settings};
  options.more_settings[0].threads = 2;
  results::RunRecord run = make_run(model_, cluster_, options, "sweep").value();
  const std::vector<results::TrialRecord> trials = run.trials;
  EXPECT_EQ(run.devices[0].threads, cluster_.device(0).info().threads)
      << "its plans differ: what the device is set to";
  run.trials[3].rounds.resize(1);
  ASSERT_EQ(run.trials[3].plan.settings.threads, 2);
  const SweepOptions kept = sweep_options_from_json(run.options_json).value();
  ASSERT_TRUE(continue_run(model_, cluster_, kept, run));
  ASSERT_EQ(run.trials.size(), trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(run.trials[i].id, trials[i].id);
    EXPECT_EQ(run.trials[i].plan, trials[i].plan);
    EXPECT_EQ(run.trials[i].rounds.size(), i == 3 ? 1U : 0U);
  }
}

}  // namespace
}  // namespace pareto::sweep
