#include "partitioner/planning/cost/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/objectives.h"

namespace pareto::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Nanoseconds> prefix_sums(const std::vector<std::int64_t>& each) {
  std::vector<Nanoseconds> sums{Nanoseconds(0)};
  for (const std::int64_t time : each) sums.push_back(sums.back() + Nanoseconds(time));
  return sums;
}

/// Returns three operators on a fast and a slow device; every link takes 1 ns a byte (1 GB/s) and
/// has a delay of 50 ns.
CostInputs two_devices() {
  CostInputs inputs;
  inputs.boundary_bytes = {100, 40, 20, 10};
  inputs.legal = {true, true, true, true};
  DeviceCosts fast;
  fast.name = "fast";
  fast.compute = prefix_sums({10, 20, 30});
  fast.overhead = Nanoseconds(5);
  fast.weight_bytes = {0, 1000, 1500, 1600};
  fast.crossing_bytes = {1, 2, 4, 8};
  fast.figures = {{"power", 3}, {"price_per_hour", 20}};
  DeviceCosts slow = fast;
  slow.name = "slow";
  slow.compute = prefix_sums({100, 200, 300});
  slow.figures = {{"power", 1}, {"price_per_hour", 7}};
  inputs.devices = {fast, slow};
  LinkCosts link;
  link.bytes_per_second = 1e9;
  link.delay = Nanoseconds(50);
  inputs.links.assign(3, std::vector<LinkCosts>(3, link));
  return inputs;
}

OperatingPoint point(std::int64_t latency, int window) { return {Nanoseconds(latency), window}; }

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

TEST(Evaluate, WhatIsMadeEarlyIsOnItsWayWhileTheRestIsComputed) {
  CostInputs inputs = two_devices();
  const Placement halves{{{0, 0, 2}, {1, 2, 3}}};
  const auto latency = [&] { return evaluate(inputs, halves)->latency.count(); };
  const std::int64_t together = latency();
  // Of the 20 bytes that cross at 2, 20 ns.
  const auto leaves = [&](std::vector<EarlyValue> early) {
    inputs.devices[0].early = {{}, {}, std::move(early), {}};
    EXPECT_TRUE(check(inputs));
  };
  leaves({{8, Nanoseconds(30)}});
  EXPECT_EQ(latency(), together - 8) << "it has arrived by the end of the stage";
  leaves({{8, Nanoseconds(5)}});
  EXPECT_EQ(latency(), together - 5) << "so much of it has";
  leaves({{8, Nanoseconds(6)}, {10, Nanoseconds(4)}});
  EXPECT_EQ(latency(), together - 6) << "one waits for the other";
  EXPECT_EQ(evaluate(inputs, halves)->bottleneck, evaluate(two_devices(), halves)->bottleneck);
  inputs.devices[0].early = {{}, {}, {{21, Nanoseconds(5)}}, {}};
  EXPECT_THAT(check(inputs).error().message, HasSubstr("an early value at 2"));
  inputs.devices[0].early.pop_back();
  EXPECT_FALSE(check(inputs));
}

TEST(Evaluate, WhatPassesAtOnceItDoesOnceForAllParts) {
  CostInputs inputs = two_devices();
  // The first 10 bytes.
  const auto measured = [](std::int64_t bytes, int delay) {
    return LinkPoint{bytes, {.occupancy = Nanoseconds(bytes), .delay = Nanoseconds(delay)}};
  };
  inputs.links[0][1].measured = {measured(0, 50), measured(10, 40), measured(20, 40)};
  const Placement halves{{{0, 0, 2}, {1, 2, 3}}};
  const auto latency_with = [&](std::vector<EarlyValue> early) {
    inputs.devices[0].early = {{}, {}, std::move(early), {}};
    return evaluate(inputs, halves)->latency.count();
  };
  const std::int64_t together = latency_with({});
  EXPECT_EQ(latency_with({{8, Nanoseconds(5)}}), together - 5);
  EXPECT_EQ(latency_with({{16, Nanoseconds(5)}}), together - 5) << "the last are few enough";
  EXPECT_EQ(latency_with({{16, Nanoseconds(16)}}), together - 10) << "again after a pause";
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

TEST(Evaluate, ProcessorTimeOfLinksAndCodecs) {
  CostInputs inputs = two_devices();
  LinkCosts& link = inputs.links[0][1];
  link.message = Nanoseconds(3);
  link.send = Nanoseconds(11);
  link.receive = Nanoseconds(13);
  link.send_ns_per_byte = 0.5;
  link.codecs = {{}, {"half", {0.5, 2, 1, 9}}};
  const Placement plain{{{0, 0, 1}, {1, 1, 3}}};
  const auto as_they_are = evaluate(inputs, plain);
  ASSERT_TRUE(as_they_are);
  // The link 43, sending 11 + 20, receiving 13.
  EXPECT_EQ(as_they_are->latency.count(), 100 + 43 + 10 + 150 + (5 + 10 + 31) + (13 + 5 + 500));
  Placement encoded = plain;
  encoded.codecs = {0, 1, 0};
  const auto in_half = evaluate(inputs, encoded);
  ASSERT_TRUE(in_half);
  // The link 23, sending 11 + 20 + 80, receiving 13 + 40.
  EXPECT_EQ(in_half->latency.count(), 100 + 23 + 10 + 150 + (5 + 10 + 111) + (53 + 5 + 500));
  EXPECT_EQ(in_half->bottleneck.count(), 558);
  EXPECT_EQ(test::value_of(*in_half, "loss"), 9);
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

TEST(LinkTimes, LieBetweenMeasuredPoints) {
  LinkCosts link;
  link.measured = {{100, {Nanoseconds(10), Nanoseconds(50), Nanoseconds(1), Nanoseconds(2)}},
                   {200, {Nanoseconds(30), Nanoseconds(40), Nanoseconds(3), Nanoseconds(2)}},
                   {300, {Nanoseconds(60), Nanoseconds(40), Nanoseconds(3), Nanoseconds(2)}}};
  link.codecs = {{}, {"half", {0.5, 2, 1, 9}}};
  const auto times = [&](int codec, std::int64_t bytes) {
    return link_times(link, codec, 0, bytes);
  };
  const auto expect = [](std::int64_t occupancy, std::int64_t delay, std::int64_t send,
                         std::int64_t receive) {
    return LinkTimes{Nanoseconds(occupancy), Nanoseconds(delay), Nanoseconds(send),
                     Nanoseconds(receive)};
  };
  EXPECT_EQ(times(0, 0), expect(10, 50, 1, 2)) << "nothing is known below the smallest";
  EXPECT_EQ(times(0, 150), expect(20, 45, 2, 2));
  EXPECT_EQ(times(0, 300), expect(60, 40, 3, 2));
  EXPECT_EQ(times(0, 500), expect(120, 40, 3, 2)) << "as between the last two";
  EXPECT_EQ(times(1, 300), expect(20, 45, 2 + 600, 2 + 300)) << "150 bytes on the wire";
}

TEST(LinkTimes, OfACodecThatDependsOnWhatCrosses) {
  CostInputs inputs = two_devices();
  LinkCodec half{"half", {0.5, 2, 1, 9}};
  half.by_position = {{}, {0.5, 0, 0, 7}, {0.1, 1, 0, 8}, {}};
  inputs.links[0][1].codecs = {half};
  ASSERT_TRUE(check(inputs));
  const auto early = evaluate(inputs, {{{0, 0, 1}, {1, 1, 3}}});
  const auto late = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}});
  ASSERT_TRUE(early && late);
  // 40 bytes by half, and 20 bytes by a tenth, each encoded in a nanosecond.
  EXPECT_EQ(early->latency.count(), 150 + 15 + (20 + 50) + 505 + 60);
  EXPECT_EQ(test::value_of(*early, "loss"), 7);
  EXPECT_EQ(late->latency.count(), 150 + (35 + 20) + (2 + 50) + 305 + 60);
  EXPECT_EQ(test::value_of(*late, "loss"), 8);
}

TEST(LinkTimes, OfATransportOfItsOwn) {
  LinkCosts link;
  link.bytes_per_second = 1e9;
  const LinkTimes fast{Nanoseconds(1), Nanoseconds(2), Nanoseconds(3), Nanoseconds(4)};
  link.codecs = {{}, {"none", {}, {}, "shm", {{100, fast}}}};
  EXPECT_EQ(link_times(link, 0, 0, 100).occupancy.count(), 100);
  EXPECT_EQ(link_times(link, 1, 0, 100), fast);
}

TEST(Evaluate, LinksOfOneMediumShareItsTime) {
  CostInputs inputs = two_devices();
  inputs.media = 1;
  inputs.links[2][0].media = {{0}};  // 100 ns
  inputs.links[0][1].media = {{0}};  // 40 ns
  inputs.devices[1].compute = prefix_sums({1, 2, 3});
  const auto result = evaluate(inputs, {{{0, 0, 1}, {1, 1, 3}}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->bottleneck.count(), 140);
}

TEST(Evaluate, AMessageOccupiesAllMediaThatItPasses) {
  CostInputs inputs = two_devices();
  inputs.media = 2;
  inputs.devices[1].compute = prefix_sums({1, 2, 3});
  inputs.links[2][0].media = {{0}};            // 100 ns
  inputs.links[0][1].media = {{0, 0.5}, {1}};  // 40 ns
  inputs.links[1][2].media = {{1}};
  const auto of_first = evaluate(inputs, {{{0, 0, 1}, {1, 1, 3}}});
  ASSERT_TRUE(of_first);
  EXPECT_EQ(of_first->bottleneck.count(), 100 + 20);
  inputs.links[1][2].message = Nanoseconds(90);
  const auto of_second = evaluate(inputs, {{{0, 0, 1}, {1, 1, 3}}});
  ASSERT_TRUE(of_second);
  EXPECT_GE(of_second->bottleneck.count(), 40 + 90);
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

TEST(Evaluate, AFigureOutOfRangeIsRefused) {
  for (const std::int64_t price : {std::int64_t{-1}, std::int64_t{10'000'000'000'000}}) {
    CostInputs inputs = two_devices();
    inputs.devices[1].figures["price_per_hour"] = price;
    const auto checked = check(inputs);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message,
                testing::AllOf(testing::HasSubstr("slow"), testing::HasSubstr("cost")));
  }
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

TEST(Evaluate, RefusesWhatIsNoPlan) {
  CostInputs inputs = two_devices();
  const auto code = [&](const Placement& placement) {
    const auto result = evaluate(inputs, placement);
    return result ? ErrorCode::kInternal : result.error().code;
  };
  using enum ErrorCode;
  EXPECT_EQ(code({}), kInvalidArgument);
  EXPECT_EQ(code({{{2, 0, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{-1, 0, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 2}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 2}, {7, 2, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 1}, {1, 2, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 1}, {1, 1, 2}, {0, 2, 3}}}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 3}}, {0, 1}}), kInvalidArgument);
  EXPECT_EQ(code({{}, {}, true}), kInvalidArgument);
  EXPECT_EQ(code({{{0, 0, 3}, {0, 0, 3}}, {}, true}), kInvalidArgument);
  inputs.legal[1] = false;
  EXPECT_EQ(code({{{0, 0, 1}, {1, 1, 3}}}), kInvalidArgument);
  inputs.devices[1].may_be_first = false;
  EXPECT_EQ(code({{{1, 0, 3}}}), kInvalidArgument);
  inputs.links[0][1].usable = false;
  EXPECT_EQ(code({{{0, 0, 2}, {1, 2, 3}}}), kUnavailable);
  inputs.devices[0].memory_limit_bytes = 1608;
  EXPECT_EQ(code({{{0, 0, 3}}}), kExhausted);
}

TEST(Evaluate, NoStageHoldsWhatADeviceHadNoRoomFor) {
  CostInputs inputs = two_devices();
  inputs.devices[0].too_large = {{1, 2}};
  for (const auto& [begin, end] : {std::pair(0, 3), {0, 2}, {1, 2}, {1, 3}}) {
    EXPECT_FALSE(has_room(inputs, inputs.devices[0], begin, end)) << begin << " to " << end;
  }
  EXPECT_TRUE(has_room(inputs, inputs.devices[0], 0, 1));
  EXPECT_TRUE(has_room(inputs, inputs.devices[0], 2, 3));
  EXPECT_TRUE(has_room(inputs, inputs.devices[1], 0, 3));
  EXPECT_TRUE(evaluate(inputs, {{{0, 0, 1}, {1, 1, 3}}}));
  const auto refused = evaluate(inputs, {{{0, 0, 2}, {1, 2, 3}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("fast was seen to have no room"));
}

TEST(Check, NamesWhatIsWrong) {
  const auto message = [](auto spoil) {
    CostInputs inputs = two_devices();
    spoil(inputs);
    const auto result = check(inputs);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(message([](CostInputs&) {}), "");
  EXPECT_THAT(message([](CostInputs& i) { i.legal.pop_back(); }), HasSubstr("flags"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices.clear(); }), HasSubstr("no device"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices[1].compute[1] = Nanoseconds(-1); }),
              HasSubstr("device slow: compute"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices[0].weight_bytes[3] = 1; }),
              HasSubstr("device fast: weight_bytes"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.devices[0].shared_weights = {{1, {0, 2, 1, 2}}};
              }),
              HasSubstr("device fast: uses of a shared weight"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.devices[0].shared_weights = {{-1, {0, 1, 1, 2}}};
              }),
              HasSubstr("device fast: a shared weight"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.devices[0].too_large = {{2, 1}};
              }),
              HasSubstr("too_large"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices[0].crossing_bytes.pop_back(); }),
              HasSubstr("crossing_bytes"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.devices[1].jitter = {1, 0};
              }),
              HasSubstr("device slow: jitter"));
  EXPECT_THAT(message([](CostInputs& i) { i.links.pop_back(); }), HasSubstr("rows"));
  EXPECT_THAT(message([](CostInputs& i) { i.links[0][2].media = {{0}}; }),
              HasSubstr("link from 0 to 2: medium"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.media = 1;
                i.links[0][2].media = {{0, 0}, {0}};
              }),
              HasSubstr("link from 0 to 2: medium"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.media = 1;
                i.links[0][2].media = {{0}, {0}};
              }),
              HasSubstr("each once"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.media = 1;
                i.links[0][2].media = {{0, 0.5}};
              }),
              HasSubstr("none of its media has a share of 1"));
  EXPECT_THAT(message([](CostInputs& i) { i.links[1][0].bytes_per_second = 1e-9; }),
              HasSubstr("longer than an hour"));
  EXPECT_THAT(message([](CostInputs& i) { i.devices[0].enter = {Nanoseconds(0)}; }),
              HasSubstr("device fast: enter"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].measured = {{8, {}}, {8, {}}};
              }),
              HasSubstr("ascend in bytes"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.boundary_bytes[0] = std::int64_t{1} << 60;
                i.links[1][0].measured = {{0, {}}, {1, {Nanoseconds(1'000'000)}}};
              }),
              HasSubstr("longer than an hour"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].codecs = {{"bad", {-1, 0, 0, 0}}};
              }),
              HasSubstr("codec bad"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].codecs = {{"short", {}, {{}, {}}}};
              }),
              HasSubstr("codec short has figures of 2 positions of 4"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].codecs = {{"odd", {}, {{}, {}, {-1, 0, 0, 0}, {}}}};
              }),
              HasSubstr("codec odd: a number"));
  EXPECT_THAT(message([](CostInputs& i) {
                i.links[1][0].codecs = {{"none", {}, {}, "shm", {{8, {}}, {8, {}}}}};
              }),
              HasSubstr("codec none: measured points have to ascend"));
}

}  // namespace
}  // namespace pareto::planning
