#include "partitioner/planning/cost/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/planning/cost/two_devices.h"
#include "tests/support/objectives.h"

namespace pareto::planning {
namespace {

using testing::ElementsAre;

TEST(Evaluate, OneDevice) {
  const auto result = evaluate(two_devices(), {{{0, 0, 3}}});
  ASSERT_TRUE(result) << result.error().message;
  // 100 + 50 to it, 5 + 60 on it, 10 + 50 back.
  EXPECT_EQ(result->latency.count(), 275);
  EXPECT_EQ(result->bottleneck.count(), 100);
  EXPECT_EQ(test::value_of(*result, "energy"), 3 * 65);
  EXPECT_EQ(test::value_of(*result, "memory"), 1600 + 1 + 8);
  EXPECT_EQ(result->boundary_bytes, 0);
}

TEST(Evaluate, EachStageHoldsTheWeightsThatItShares) {
  CostInputs inputs = two_devices();
  const Placement halves{{{0, 0, 1}, {1, 1, 3}}};
  EXPECT_EQ(test::value_of(*evaluate(inputs, halves), "memory"), 1000 + 1 + 2);
  // 600 bytes that the first operator and the last both use.
  for (DeviceCosts& device : inputs.devices) device.shared_weights = {{600, {0, 1, 1, 2}}};
  ASSERT_TRUE(check(inputs));
  EXPECT_EQ(test::value_of(*evaluate(inputs, halves), "memory"), 600 + 600 + 2 + 8);
  EXPECT_EQ(stage_memory_bytes(inputs.devices[0], 1, 2), 500 + 2 + 4) << "uses none of it";
  EXPECT_EQ(stage_memory_bytes(inputs.devices[0], 0, 3), 1600 + 1 + 8) << "once";
  inputs.devices[1].memory_limit_bytes = 1209;
  EXPECT_EQ(evaluate(inputs, halves).error().code, ErrorCode::kExhausted);
}

TEST(Evaluate, TwoDevicesInEitherOrder) {
  const CostInputs inputs = two_devices();
  const auto forward = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}});
  ASSERT_TRUE(forward);
  // Links 100, 20, 10 with 50 each; 5 + 30 on the fast one, 5 + 300 on the slow one.
  EXPECT_EQ(forward->latency.count(), 130 + 150 + 35 + 305);
  EXPECT_EQ(forward->bottleneck.count(), 305);
  EXPECT_EQ(test::value_of(*forward, "energy"), 3 * 35 + 305);
  EXPECT_EQ(test::value_of(*forward, "memory"), 1500 + 1 + 4);
  EXPECT_EQ(forward->boundary_bytes, 20);
  const auto backward = evaluate(inputs, {{{1, 0, 1}, {0, 1, 3}}});
  ASSERT_TRUE(backward);
  EXPECT_EQ(backward->latency.count(), 150 + 150 + 105 + 55);
  EXPECT_EQ(backward->bottleneck.count(), 105);
}

TEST(Evaluate, BeginningInsideTheModelCosts) {
  CostInputs inputs = two_devices();
  inputs.devices[1].enter = {Nanoseconds(1), Nanoseconds(2), Nanoseconds(4), Nanoseconds(8)};
  const auto result = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->bottleneck.count(), 305 + 4);
}

TEST(Evaluate, BusyStagesAreTheBottleneckAndLoneOnesTheLatency) {
  CostInputs inputs = two_devices();
  const auto as_alone = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}});
  inputs.devices[1].busy.emplace().compute = inputs.devices[1].compute;
  inputs.devices[1].busy->overhead = Nanoseconds(77);
  const auto busy = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}});
  ASSERT_TRUE(as_alone && busy);
  EXPECT_EQ(busy->latency, as_alone->latency);
  EXPECT_EQ(busy->bottleneck, as_alone->bottleneck - inputs.devices[1].overhead + Nanoseconds(77));
}

TEST(Evaluate, AllOperatorsTogetherAreAStageOfTheirOwn) {
  CostInputs inputs = two_devices();
  const auto sum = evaluate(inputs, {{{0, 0, 3}}});
  inputs.devices[0].whole = inputs.devices[0].time(0, 3) + Nanoseconds(9);
  const auto measured = evaluate(inputs, {{{0, 0, 3}}});
  ASSERT_TRUE(sum && measured);
  EXPECT_EQ(measured->latency, sum->latency + Nanoseconds(9));
  EXPECT_EQ(evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}})->latency,
            evaluate(two_devices(), {{{0, 0, 2}, {1, 2, 3}}})->latency);
}

TEST(Evaluate, ReplicasServeATurn) {
  CostInputs inputs = two_devices();
  const auto both = evaluate(inputs, {{{0, 0, 3}, {1, 0, 3}}, {}, true});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->latency.count(), 150 + 605 + 60);
  EXPECT_EQ(both->bottleneck.count(), 606) << "605, and a whole number for each";
  EXPECT_EQ(both->turn, 2);
  EXPECT_EQ(test::value_of(*both, "energy"), (3 * 65 + 605) / 2);
  // Windows 2 * 815 / 606 = 2.7: 2 at the latency, 3 at three halves of the bottleneck.
  EXPECT_THAT(operating_points(*both, {}), ElementsAre(point(815, 2), point(909, 3)));
  inputs.media = 1;
  inputs.links[2][0].media = {{0}};
  inputs.links[2][1].media = {{0}};
  inputs.devices[1].compute = inputs.devices[0].compute;
  EXPECT_EQ(evaluate(inputs, {{{0, 0, 3}, {1, 0, 3}}, {}, true})->bottleneck.count(), 200);
}

TEST(Evaluate, EachReplicaHasTheCodecsOfItsTwoLinks) {
  CostInputs inputs = two_devices();
  inputs.links[2][1].codecs = {{}, {"lossy", {1, 0, 0, 7}}};
  const auto plain = evaluate(inputs, {{{0, 0, 3}, {1, 0, 3}}, {}, true});
  const auto lossy = evaluate(inputs, {{{0, 0, 3}, {1, 0, 3}}, {0, 0, 1, 0}, true});
  ASSERT_TRUE(plain) << plain.error().message;
  ASSERT_TRUE(lossy) << lossy.error().message;
  EXPECT_EQ(test::value_of(*plain, "loss"), 0);
  EXPECT_EQ(test::value_of(*lossy, "loss"), 7);
  const auto refused = [&](std::vector<int> codecs) {
    const auto none = evaluate(inputs, {{{0, 0, 3}, {1, 0, 3}}, std::move(codecs), true});
    return none ? ErrorCode::kInternal : none.error().code;
  };
  EXPECT_EQ(refused({0, 0, 1}), ErrorCode::kInvalidArgument) << "two for each";
  EXPECT_EQ(refused({0, 1, 0, 0}), ErrorCode::kInvalidArgument) << "no such codec";
}

TEST(Evaluate, CountsTheBytesOnAllLinksAndThePriceOfAllDevices) {
  CostInputs inputs = two_devices();
  inputs.links[0][1].codecs = {{}, {"half", {0.5, 0, 0, 0}}};
  const auto plain = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}});
  ASSERT_TRUE(plain);
  EXPECT_EQ(test::value_of(*plain, "network_bytes"), 100 + 20 + 10);
  EXPECT_EQ(test::value_of(*plain, "cost"), 20 + 7);
  const auto half = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}, {0, 1, 0}});
  ASSERT_TRUE(half);
  EXPECT_EQ(test::value_of(*half, "network_bytes"), 100 + 10 + 10);
  const auto turns = evaluate(inputs, {{{0, 0, 3}, {1, 0, 3}}, {}, true});
  ASSERT_TRUE(turns);
  EXPECT_EQ(test::value_of(*turns, "network_bytes"), 110) << "a request passes one of them";
  EXPECT_EQ(test::value_of(*turns, "cost"), 27) << "both have to be paid";
}

TEST(PredictedMeasurement, IsOfSamplesNotOfBatches) {
  Evaluation evaluation;
  evaluation.boundary_bytes = 5;
  const Measurement predicted =
      predicted_measurement(evaluation, {std::chrono::milliseconds(20), 3}, 4);
  EXPECT_DOUBLE_EQ(predicted.latency_p50_ms, 20);
  EXPECT_DOUBLE_EQ(predicted.latency_p99_ms, 20);
  EXPECT_DOUBLE_EQ(predicted.throughput_per_s, 3 / 0.020 * 4);
  EXPECT_EQ(predicted.latency_window, 3);
  EXPECT_EQ(predicted.throughput_window, 3);
  EXPECT_EQ(predicted.batch, 4);
  EXPECT_EQ(predicted.boundary_bytes, 5U);
}

TEST(OperatingPoints, AreThoseBesideTheRatio) {
  Evaluation evaluation;
  evaluation.latency = Nanoseconds(100);
  evaluation.bottleneck = Nanoseconds(30);
  EXPECT_THAT(operating_points(evaluation, {}), ElementsAre(point(100, 3), point(120, 4)));
  EXPECT_DOUBLE_EQ(operating_points(evaluation, {})[1].throughput_per_s(), 1e9 / 30);
  EXPECT_THAT(operating_points(evaluation, {1, 2}), ElementsAre(point(100, 2)));
  EXPECT_THAT(operating_points(evaluation, {6, 9}), ElementsAre(point(180, 6)));
  evaluation.bottleneck = Nanoseconds(25);
  EXPECT_THAT(operating_points(evaluation, {}), ElementsAre(point(100, 4)));
}

TEST(OperatingPoints, AreNoWorseThanAnyOtherWindow) {
  for (std::int64_t latency = 1; latency <= 40; ++latency) {
    for (std::int64_t bottleneck = 1; bottleneck <= latency; ++bottleneck) {
      Evaluation evaluation;
      evaluation.latency = Nanoseconds(latency);
      evaluation.bottleneck = Nanoseconds(bottleneck);
      const auto chosen = operating_points(evaluation, {});
      for (int window = 1; window < 50; ++window) {
        const OperatingPoint other = at_window(evaluation, window);
        EXPECT_TRUE(std::ranges::any_of(chosen,
                                        [&](const OperatingPoint& mine) {
                                          return mine.latency <= other.latency &&
                                                 mine.window * other.latency >=
                                                     other.window * mine.latency;
                                        }))
            << latency << " " << bottleneck << " " << window;
      }
    }
  }
}

TEST(Evaluate, ZeroCostsTakeANanosecond) {
  CostInputs inputs;
  inputs.boundary_bytes = {0, 0};
  inputs.legal = {true, true};
  inputs.devices.resize(1);
  inputs.devices[0].compute = prefix_sums({0});
  inputs.links.assign(2, std::vector<LinkCosts>(2));
  ASSERT_TRUE(check(inputs));
  EXPECT_THAT(operating_points(*evaluate(inputs, {{{0, 0, 1}}}), {}), ElementsAre(point(1, 1)));
}

}  // namespace
}  // namespace pareto::planning
