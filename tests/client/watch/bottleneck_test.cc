// Who holds a pipeline up, in a word and in words.
#include "client/watch/bottleneck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/watch/readings.h"

namespace pareto::watch {
namespace {

using std::chrono::milliseconds;
using test::Pace;
using testing::HasSubstr;
using testing::Not;

const Pace kBusy{.requests = 10, .compute = milliseconds(97), .wait = milliseconds(150)};

const Bottleneck& bottleneck(const Activity& activity) {
  return activity.pipelines.at(0).bottleneck;
}

TEST(BottleneckOf, TheStageThatComputesAllTheTime) {
  const Activity activity = test::activity_of({}, kBusy);
  EXPECT_EQ(bottleneck(activity).limit, Limit::kStage);
  EXPECT_EQ(bottleneck(activity).index, 1U);
  EXPECT_DOUBLE_EQ(bottleneck(activity).share, 0.97);
  EXPECT_THAT(bottleneck(activity).words,
              HasSubstr("stage 1 on pi-22 is the bottleneck: it computes 97 % of the time"));
  EXPECT_THAT(bottleneck(activity).words, HasSubstr("requests wait 150 ms for it"));
}

TEST(BottleneckOf, TheLinkThatBytesAreAlwaysOn) {
  // The stage before it sends all the time, too.
  const Activity activity = test::activity_of({.sending = 0.99}, {.receiving = 0.96});
  EXPECT_EQ(bottleneck(activity).limit, Limit::kLink);
  EXPECT_EQ(bottleneck(activity).index, 1U);
  EXPECT_THAT(
      bottleneck(activity).words,
      HasSubstr("the link from stage 0 on pi-1 to stage 1 on pi-22 is the bottleneck: bytes "
                "are on their way 96 % of the time, 9.77 KiB/s"));
  EXPECT_THAT(bottleneck(activity).words, Not(HasSubstr("coordinator")));
}

TEST(BottleneckOf, TheLinkBackOrWhoTakesFromIt) {
  const Activity activity = test::activity_of({}, {.sending = 0.9});
  EXPECT_EQ(bottleneck(activity).limit, Limit::kLink);
  EXPECT_EQ(bottleneck(activity).index, 2U);
  EXPECT_THAT(bottleneck(activity).words, HasSubstr("the coordinator takes its results slowly"));
}

TEST(BottleneckOf, AStageIsBlamedBeforeALinkThatWaitsForIt) {
  Pace both = kBusy;
  both.receiving = 0.97;
  EXPECT_EQ(bottleneck(test::activity_of({}, both)).limit, Limit::kStage);
  both.receiving = 0.99;
  EXPECT_EQ(bottleneck(test::activity_of({}, both)).limit, Limit::kLink);
}

TEST(BottleneckOf, NobodyWhereNobodyIsBusy) {
  const Activity activity = test::activity_of({.compute = milliseconds(40)}, {.in_flight = 0});
  EXPECT_EQ(bottleneck(activity).limit, Limit::kNone);
  EXPECT_EQ(bottleneck(activity).index, 0U);
  EXPECT_THAT(bottleneck(activity).words,
              HasSubstr("no bottleneck: stage 0 on pi-1 computes most, 40 % of the time; with 1 "
                        "request in flight"));
}

TEST(BottleneckOf, NothingToDoAndNothingDoneAreNotTheSame) {
  const Pace idle{.requests = 0, .receiving = 0, .sending = 0, .in_flight = 0};
  EXPECT_EQ(bottleneck(test::activity_of(idle, idle)).limit, Limit::kIdle);
  Pace pending = idle;
  pending.in_flight = 2;
  const Activity activity = test::activity_of(idle, pending);
  EXPECT_EQ(bottleneck(activity).limit, Limit::kPending);
  EXPECT_THAT(bottleneck(activity).words, HasSubstr("2 requests in flight: a longer --interval"));
}

/// Makes the activity of two stages; `failure`: that of those that failed.
Activity in_states(control::StageState first, control::StageState second,
                   const std::string& failure) {
  const auto at = [&](int at_second) {
    std::vector<control::StageActivity> stages{test::stage_after(0, at_second, kBusy),
                                               test::stage_after(1, at_second, {})};
    stages[0].state = first;
    stages[1].state = second;
    for (control::StageActivity& stage : stages) {
      if (stage.state == control::StageState::kFailed) stage.failure = failure;
    }
    return std::vector<DeviceReading>{test::device_after("pi-1", at_second, stages)};
  };
  return activity_between(at(1), at(2));
}

TEST(BottleneckOf, AStageThatFailedOrDrainsIsSaidFirst) {
  Activity activity =
      in_states(control::StageState::kDraining, control::StageState::kFailed, "a link broke");
  EXPECT_EQ(bottleneck(activity).limit, Limit::kFailed);
  EXPECT_EQ(bottleneck(activity).index, 1U);
  EXPECT_EQ(bottleneck(activity).words, "stage 1 on pi-1 failed: a link broke");
  activity = in_states(control::StageState::kFailed, control::StageState::kRunning, "");
  EXPECT_EQ(bottleneck(activity).words, "stage 0 on pi-1 failed");
  activity = in_states(control::StageState::kRunning, control::StageState::kDraining, "");
  EXPECT_EQ(bottleneck(activity).limit, Limit::kDraining);
  EXPECT_EQ(bottleneck(activity).index, 1U);
  EXPECT_EQ(bottleneck(activity).words, "stage 1 on pi-1 is draining: it takes no more requests");
  EXPECT_EQ(
      bottleneck(in_states(control::StageState::kOpening, control::StageState::kRunning, "")).limit,
      Limit::kStage);
}

TEST(BottleneckOf, AFailedStageIsSaidWithoutRates) {
  control::StageActivity failed = test::stage_after(0, 1, {});
  failed.state = control::StageState::kFailed;
  const Activity activity = activity_between({}, {test::device_after("pi-1", 1, {failed})});
  EXPECT_EQ(bottleneck(activity).limit, Limit::kFailed);
}

TEST(BottleneckOf, ASlowedDownDeviceIsSaid) {
  const auto at = [](int at_second) {
    DeviceReading device =
        test::device_after("pi-1", at_second, {test::stage_after(0, at_second, kBusy)});
    device.observation.machine.throttled = {"under_voltage", "throttling"};
    return std::vector<DeviceReading>{device};
  };
  const Activity activity = activity_between(at(1), at(2));
  EXPECT_THAT(bottleneck(activity).words,
              HasSubstr("its device is slowed down (under_voltage, throttling)"));
}

TEST(BottleneckOf, AShardThatPipelinesShareIsBusyForAll) {
  const Pace half{.requests = 10, .compute = milliseconds(50)};
  const auto at = [&](int at_second) {
    control::StageActivity one = test::stage_after(0, at_second, half, 1);
    control::StageActivity other = test::stage_after(0, at_second, half, 2);
    control::StageActivity elsewhere = test::stage_after(0, at_second, half, 3);
    one.shard = other.shard = elsewhere.shard = "shared";
    return std::vector<DeviceReading>{test::device_after("pi-1", at_second, {one, other}),
                                      test::device_after("pi-2", at_second, {elsewhere})};
  };
  const Activity activity = activity_between(at(1), at(2));
  ASSERT_EQ(activity.pipelines.size(), 3U);
  EXPECT_EQ(activity.pipelines[0].bottleneck.limit, Limit::kStage);
  EXPECT_DOUBLE_EQ(activity.pipelines[0].bottleneck.share, 1);
  EXPECT_THAT(activity.pipelines[1].bottleneck.words,
              HasSubstr("100 % of the time, 50 % for other pipelines"));
  EXPECT_EQ(activity.pipelines[2].bottleneck.limit, Limit::kNone) << "another device's";
}

TEST(BottleneckOf, APipelineWithoutRequestsIsIdleWhateverOthersDoWithItsShard) {
  const auto at = [&](int at_second) {
    control::StageActivity busy =
        test::stage_after(0, at_second, {.requests = 10, .compute = milliseconds(100)}, 1);
    control::StageActivity idle = test::stage_after(
        0, at_second, {.requests = 0, .receiving = 0, .sending = 0, .in_flight = 0}, 2);
    busy.shard = idle.shard = "shared";
    return std::vector<DeviceReading>{test::device_after("pi-1", at_second, {busy, idle})};
  };
  const Activity activity = activity_between(at(1), at(2));
  ASSERT_EQ(activity.pipelines.size(), 2U);
  EXPECT_EQ(activity.pipelines[0].bottleneck.limit, Limit::kStage);
  EXPECT_EQ(activity.pipelines[1].bottleneck.limit, Limit::kIdle);
}

}  // namespace
}  // namespace pareto::watch
