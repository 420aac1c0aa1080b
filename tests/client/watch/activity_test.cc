// Rates of differences.
#include "client/watch/activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/watch/readings.h"

namespace pareto::watch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::device_after;
using test::Pace;
using test::silent_device;
using test::stage_after;
using testing::IsEmpty;

TEST(Quantiles, AreKnownByTheStepsOfTheHistogram) {
  const auto expect = [](const DurationCounts& durations, double share, double low,
                         std::optional<double> high) {
    const auto range = quantile_range(durations, share);
    ASSERT_TRUE(range);
    EXPECT_DOUBLE_EQ(range->low_ms, low);
    EXPECT_EQ(range->high_ms, high);
  };
  EXPECT_FALSE(quantile_range({}, 0.5));
  // Ten between 5 and 10 ms.
  const DurationCounts tens = test::durations_of(10, milliseconds(7));
  expect(tens, 0.5, 5, 10);
  expect(tens, 1, 5, 10);
  DurationCounts mixed = tens;
  mixed += test::durations_of(90, milliseconds(150));
  expect(mixed, 0.1, 5, 10);
  expect(mixed, 0.55, 100, 200);
  expect(test::durations_of(3, milliseconds(0)), 0.5, 0, 0.1);
  expect(test::durations_of(3, seconds(100)), 0.5, 60'000, {});
}

TEST(ActivityBetween, RatesAreDifferencesOnTheDevicesClock) {
  const Activity activity =
      test::activity_of({.requests = 20, .compute = milliseconds(30)}, {.requests = 20,
                                                                        .compute = milliseconds(15),
                                                                        .receiving = 0.25,
                                                                        .sending = 0.125,
                                                                        .in_flight = 3});
  ASSERT_EQ(activity.devices.size(), 2U);
  EXPECT_EQ(activity.devices[0].seconds, 2.0);
  EXPECT_EQ(activity.devices[0].cpu, 0.125) << "half a core of four";
  ASSERT_EQ(activity.pipelines.size(), 1U);
  const PipelineView& pipeline = activity.pipelines[0];
  EXPECT_EQ(pipeline.model, "resnet50");
  EXPECT_EQ(pipeline.in_flight, 4U);
  EXPECT_EQ(pipeline.requests_per_s, 20.0);
  ASSERT_EQ(pipeline.stages.size(), 2U);
  EXPECT_EQ(stage_name(activity, pipeline.stages[1]), "stage 1 on pi-22");
  const StageRates& rates = pipeline.stages[1].rates.value();
  EXPECT_DOUBLE_EQ(rates.requests_per_s, 20);
  EXPECT_DOUBLE_EQ(rates.failed_per_s, 0);
  EXPECT_DOUBLE_EQ(rates.bytes_in_per_s, 20'000);
  EXPECT_DOUBLE_EQ(rates.bytes_out_per_s, 10'000);
  EXPECT_DOUBLE_EQ(rates.computing, 0.3);
  EXPECT_DOUBLE_EQ(rates.receiving, 0.25);
  EXPECT_DOUBLE_EQ(rates.sending, 0.125);
  ASSERT_TRUE(rates.compute && rates.wait);
  EXPECT_DOUBLE_EQ(rates.compute->mean_ms, 15);
  EXPECT_DOUBLE_EQ(rates.compute->mean_ms * rates.requests_per_s, 1000 * rates.computing)
      << "rate, time and share of computing are of one piece";
  EXPECT_DOUBLE_EQ(rates.compute->p50.low_ms, 10);
  EXPECT_EQ(rates.compute->p50.high_ms, 20);
  EXPECT_DOUBLE_EQ(rates.wait->mean_ms, 1);
  EXPECT_DOUBLE_EQ(rates.wait->p95.low_ms, 0.5);
}

TEST(ActivityBetween, LinksAreNamedByTheirEnds) {
  const Activity activity =
      test::activity_of({.receiving = 0.1}, {.receiving = 0.5, .sending = 0.7});
  const auto& links = activity.pipelines.at(0).links;
  ASSERT_EQ(links.size(), 3U);
  EXPECT_EQ(links[0].from, "source");
  EXPECT_EQ(links[0].to, "stage 0 on pi-1");
  EXPECT_DOUBLE_EQ(links[0].busy.value(), 0.1);
  EXPECT_FALSE(links[0].round_trip);
  EXPECT_EQ(links[1].from, "stage 0 on pi-1");
  EXPECT_EQ(links[1].to, "stage 1 on pi-22");
  EXPECT_DOUBLE_EQ(links[1].busy.value(), 0.5) << "as it comes in";
  EXPECT_EQ(links[1].round_trip, milliseconds(20));
  EXPECT_EQ(links[1].bytes_per_second_then, 6'000'000U);
  EXPECT_EQ(links[2].to, "sink");
  EXPECT_DOUBLE_EQ(links[2].busy.value(), 0.7);
  EXPECT_DOUBLE_EQ(links[2].bytes_per_s.value(), 5000);
}

TEST(ActivityBetween, StagesOfDevicesThatAreNotAskedAreMissed) {
  const auto at = [](int time) {
    control::StageActivity middle = test::stage_after(1, time, {});
    middle.round_trip = milliseconds(1);
    return std::vector<DeviceReading>{test::device_after("pi-2", time, {middle})};
  };
  const Activity activity = activity_between(at(1), at(2));
  const auto& links = activity.pipelines.at(0).links;
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[0].from, "stage 0 (not seen)");
  EXPECT_EQ(links[1].to, "stage 2 (not seen)");
  EXPECT_EQ(links[1].round_trip, milliseconds(1));
}

TEST(ActivityBetween, ThereAreNoRatesWithoutTwoReadings) {
  const std::vector<DeviceReading> now{
      test::device_after("pi-1", 5, {test::stage_after(0, 5, {})})};
  const Activity first = activity_between({}, now);
  EXPECT_FALSE(first.devices.at(0).seconds);
  EXPECT_FALSE(first.pipelines.at(0).stages.at(0).rates);
  EXPECT_FALSE(first.pipelines.at(0).requests_per_s);
  EXPECT_EQ(first.pipelines.at(0).bottleneck.limit, Limit::kUnknown);
  const Activity back = activity_between({test::silent_device("pi-1")}, now);
  EXPECT_FALSE(back.pipelines.at(0).stages.at(0).rates) << "it was away";
  const Activity gone = activity_between(now, {test::silent_device("pi-1")});
  EXPECT_THAT(gone.pipelines, IsEmpty());
  EXPECT_EQ(gone.devices.at(0).reading.problem, "pi-1: nobody answers");
}

TEST(ActivityBetween, WhatBeganAnewHasNoRates) {
  const std::vector<DeviceReading> before{
      test::device_after("pi-1", 5, {test::stage_after(0, 5, {})})};
  // The same pipeline, with fewer requests than before.
  const Activity stage =
      activity_between(before, {test::device_after("pi-1", 6, {test::stage_after(0, 2, {})})});
  EXPECT_TRUE(stage.devices.at(0).seconds);
  EXPECT_FALSE(stage.pipelines.at(0).stages.at(0).rates);
  // A machine that started again, and a daemon that did.
  EXPECT_FALSE(activity_between(before, {test::device_after("pi-1", 4, {})}).devices.at(0).seconds);
  DeviceReading daemon = test::device_after("pi-1", 6, {test::stage_after(0, 6, {})});
  daemon.observation.cpu = milliseconds(1);
  const Activity restarted = activity_between(before, {daemon});
  EXPECT_FALSE(restarted.devices.at(0).cpu);
  EXPECT_FALSE(restarted.pipelines.at(0).stages.at(0).rates);
  // The same clock twice.
  EXPECT_FALSE(activity_between(before, before).devices.at(0).seconds);
}

TEST(ActivityBetween, ClosedStagesAreLeftOutAndPipelinesKeptApart) {
  const auto at = [](int time) {
    control::StageActivity closed = test::stage_after(0, time, {}, 1);
    closed.state = control::StageState::kClosed;
    return std::vector<DeviceReading>{
        test::device_after("pi-1", time,
                           {closed, test::stage_after(1, time, {}, 3),
                            test::stage_after(0, time, {}, 3), test::stage_after(0, time, {}, 2)})};
  };
  const Activity activity = activity_between(at(1), at(2));
  ASSERT_EQ(activity.pipelines.size(), 2U);
  EXPECT_EQ(activity.pipelines[0].id, 2U);
  EXPECT_EQ(activity.pipelines[1].id, 3U);
  EXPECT_EQ(activity.pipelines[1].stages.at(1).now.stage, 1U);
}

TEST(ActivityBetween, SharesAreNoMoreThanAllAndRatesFinite) {
  // A request of an hour that ended just now, and a device that counts as no device can.
  std::vector<DeviceReading> before{test::device_after("pi-1", 1, {test::stage_after(0, 0, {})})};
  std::vector<DeviceReading> now{test::device_after("pi-1", 1, {test::stage_after(0, 0, {})})};
  now[0].observation.clock += Nanoseconds(1);
  control::StageActivity& stage = now[0].observation.stages[0];
  stage.bytes_received = ~std::uint64_t{0};
  stage.compute = test::durations_of(1, std::chrono::hours(1));
  stage.receiving = std::chrono::hours(1);
  const StageRates rates = activity_between(before, now).pipelines.at(0).stages.at(0).rates.value();
  EXPECT_EQ(rates.computing, 1);
  EXPECT_EQ(rates.receiving, 1);
  EXPECT_LE(rates.bytes_in_per_s, 1e18);
}

TEST(Activity, SharesOfWorkersAreOfOneSchedule) {
  const auto shares = [](const std::vector<double>& before, const std::vector<double>& now) {
    const Activity activity =
        activity_between({device_after("a", 2, {stage_after(0, 2, {.workers = before})})},
                         {device_after("a", 4, {stage_after(0, 4, {.workers = now})})});
    return activity.pipelines.at(0).stages.at(0).rates->workers;
  };
  EXPECT_THAT(
      shares({0.5, 0.25}, {0.5, 0.25}),
      testing::ElementsAre(testing::DoubleNear(0.5, 1e-9), testing::DoubleNear(0.25, 1e-9)));
  EXPECT_THAT(shares({0.5, 0.25}, {0.1, 2}), testing::ElementsAre(0, 1))
      << "no share is below nothing or above all";
  EXPECT_THAT(shares({}, {0.5, 0.25}), IsEmpty()) << "the stage runs another shard now";
  EXPECT_THAT(shares({}, {}), IsEmpty());
}

}  // namespace
}  // namespace pareto::watch
