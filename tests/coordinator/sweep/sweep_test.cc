#include "coordinator/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/sweep/sweep_plan_fixture.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
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

TEST(SweepOptionsJson, ComesBackAsItWas) {
  SweepOptions options;
  options.splits = "percent:5";
  options.stages = {2, 3};
  options.batches = {1, 8};
  options.transports = {"grpc"};
  options.rounds = 9;
  options.codec_error = 0.25;
  options.seed = ~std::uint64_t{0};
  options.conditions = {"/somewhere/wifi.yaml"};
  options.timeout_ms = 120'000;
  options.settings.schedule = R"({"split":{"parts":2}})";
  const SweepOptions back = sweep_options_from_json(to_json(options)).value();
  EXPECT_EQ(to_json(back), to_json(options));
  EXPECT_THAT(back.batches, ElementsAre(1, 8));
  EXPECT_EQ(back.codec_error, 0.25);
  EXPECT_EQ(back.timeout_ms, 120'000);
  EXPECT_EQ(back.seed, ~std::uint64_t{0});
  EXPECT_EQ(back.settings.schedule, options.settings.schedule);
  // A run of one kind of settings says nothing of others, as runs of earlier versions.
  EXPECT_FALSE(nlohmann::json::parse(to_json(options)).contains("more_settings"));
  EXPECT_TRUE(back.more_settings.empty());
  SweepOptions several = options;
  several.more_settings = {{"plain", "fp32", 2, 0, "clusters"}, {"auto", "bf16", 1, 0.1}};
  const SweepOptions both = sweep_options_from_json(to_json(several)).value();
  EXPECT_EQ(both.settings, several.settings);
  EXPECT_EQ(both.more_settings, several.more_settings);
  // Of before the network could be another one.
  auto old = nlohmann::json::parse(to_json(options));
  old.erase("conditions");
  EXPECT_THAT(sweep_options_from_json(old.dump()).value().conditions, ElementsAre("none"));
  // Of before one could say how long a request may take.
  old.erase("timeout_ms");
  EXPECT_EQ(sweep_options_from_json(old.dump()).value().timeout_ms, load::kRequestTimeout.count());
  // Of before there were schedules.
  old.erase("schedule");
  EXPECT_EQ(sweep_options_from_json(old.dump()).value().settings.schedule, "sequential");
  // Of before a plan could span another number of devices than 2.
  old["stages"] = 2;
  EXPECT_THAT(sweep_options_from_json(old.dump()).value().stages, ElementsAre(2));
  for (const char* text : {"", "{}", "[]", "{\"splits\":3}", "nonsense"}) {
    EXPECT_EQ(sweep_options_from_json(text).error().code, ErrorCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace pareto::sweep
