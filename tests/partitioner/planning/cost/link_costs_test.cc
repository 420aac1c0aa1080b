// What links and media cost: their times by size, and who waits for whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/planning/cost/evaluate.h"
#include "tests/partitioner/planning/cost/two_devices.h"
#include "tests/support/objectives.h"

namespace pareto::planning {
namespace {

using testing::HasSubstr;

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

}  // namespace
}  // namespace pareto::planning
