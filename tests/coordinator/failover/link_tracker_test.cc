// What readings and probes of links make of those that were probed.
#include "coordinator/failover/link_tracker.h"

#include <gtest/gtest.h>

namespace pareto::failover {
namespace {

using std::chrono::milliseconds;

/// A link of 100 Mbit/s between two devices, and a coordinator that nothing was probed from.
planning::ProbedTransport probed() {
  planning::ProbedTransport one{"tcp", planning::ProbedLinks(3)};
  for (auto& row : one.links) row.resize(3);
  transport::ProbeResult& link = one.links[0][1];
  link.round_trip = milliseconds(2);
  for (const std::uint64_t kilobytes : {125U, 1250U}) {
    transport::ProbePoint point;
    point.bytes = kilobytes * 1000;
    point.interval = milliseconds(kilobytes * 8 / 100);
    point.crossing = point.interval + milliseconds(1);
    link.points.push_back(point);
  }
  return one;
}

const LinkWay kWay{"tcp", 0, 1};

std::vector<LinkReading> readings(Nanoseconds time, bool waited_for = true,
                                  std::uint64_t bytes = 250'000, std::size_t count = 9) {
  return std::vector<LinkReading>(count, {bytes, time, waited_for});
}

Nanoseconds interval_of(const LinkTracker& tracker, std::size_t point) {
  return tracker.links()[0].links[0][1].points[point].interval;
}

TEST(LinkTracker, ASlowerLinkTakesLongerForEverySize) {
  LinkTracker tracker({probed()});
  // 20 ms at the rate that was probed, 200 ms at a tenth of it.
  EXPECT_EQ(tracker.read(kWay, readings(milliseconds(200))), Heard::kChanged);
  EXPECT_NEAR(tracker.slowness(kWay), 10, 0.2);
  EXPECT_NEAR(to_milliseconds(interval_of(tracker, 0)), 100, 3);
  EXPECT_NEAR(to_milliseconds(interval_of(tracker, 1)), 1000, 20);
  EXPECT_NEAR(to_milliseconds(tracker.links()[0].links[0][1].points[1].crossing), 1001, 20);
  EXPECT_EQ(tracker.read(kWay, readings(milliseconds(200))), Heard::kSame);
  EXPECT_EQ(tracker.read(kWay, readings(milliseconds(20))), Heard::kChanged);
  EXPECT_NEAR(tracker.slowness(kWay), 1, 0.02);
}

TEST(LinkTracker, MessagesThatWaitForTheReceiverDoNotMakeALinkFaster) {
  LinkTracker tracker({probed()});
  EXPECT_EQ(tracker.read(kWay, readings(milliseconds(1), /*waited_for=*/false)), Heard::kNothing);
  EXPECT_EQ(tracker.slowness(kWay), 1);
  EXPECT_EQ(tracker.read(kWay, readings(milliseconds(100), /*waited_for=*/false)), Heard::kChanged);
}

TEST(LinkTracker, FewOrSmallMessagesSayNothing) {
  LinkTracker tracker({probed()});
  EXPECT_EQ(tracker.read(kWay, readings(milliseconds(200), true, 250'000, 4)), Heard::kNothing);
  EXPECT_EQ(tracker.read(kWay, readings(milliseconds(200), true, 1000)), Heard::kNothing);
  EXPECT_EQ(tracker.read({"tcp", 1, 0}, readings(milliseconds(200))), Heard::kNothing);
  EXPECT_EQ(tracker.read({"grpc", 0, 1}, readings(milliseconds(200))), Heard::kNothing);
}

TEST(LinkTracker, ReadingsThatDifferAmongEachOtherAreNoChange) {
  LinkTracker tracker({probed()});
  std::vector<LinkReading> mixed;
  for (int i = 0; i < 12; ++i) mixed.push_back({250'000, milliseconds(10 + 4 * i), true});
  EXPECT_EQ(tracker.read(kWay, mixed), Heard::kSame);
  EXPECT_GT(tracker.spread(), 0.3);
}

TEST(LinkTracker, AProbeSaysRateAndDelay) {
  LinkTracker tracker({probed()});
  transport::ProbeResult result;
  result.round_trip = milliseconds(42);
  result.points.push_back(
      {.bytes = 125'000, .crossing = milliseconds(41), .interval = milliseconds(20)});
  // It may be slower by chance.
  EXPECT_FALSE(tracker.probe(kWay, result));
  EXPECT_TRUE(tracker.wants_another_probe(kWay));
  EXPECT_TRUE(tracker.probe(kWay, result));
  EXPECT_FALSE(tracker.wants_another_probe(kWay));
  EXPECT_NEAR(tracker.slowness(kWay), 2, 0.01);
  EXPECT_NEAR(to_milliseconds(tracker.links()[0].links[0][1].points[0].crossing), 41, 0.1);
  EXPECT_FALSE(tracker.probe(kWay, result));
  EXPECT_EQ(tracker.ways(), std::vector<LinkWay>{kWay});
}

TEST(LinkTracker, AProbeThatWasSlowByChanceChangesNothing) {
  LinkTracker tracker({probed()});
  transport::ProbeResult result;
  result.round_trip = milliseconds(2);
  result.points.push_back(
      {.bytes = 125'000, .crossing = milliseconds(31), .interval = milliseconds(30)});
  EXPECT_FALSE(tracker.probe(kWay, result));
  result.points[0].crossing = milliseconds(11);
  result.points[0].interval = milliseconds(10);
  EXPECT_FALSE(tracker.probe(kWay, result));
  EXPECT_EQ(tracker.slowness(kWay), 1);
  EXPECT_FALSE(tracker.wants_another_probe(kWay));
}

TEST(LinkTracker, AProbeThatIsFasterCountsAtOnce) {
  LinkTracker tracker({probed()});
  EXPECT_EQ(tracker.read(kWay, readings(milliseconds(200))), Heard::kChanged);
  transport::ProbeResult result;
  result.round_trip = milliseconds(2);
  result.points.push_back(
      {.bytes = 125'000, .crossing = milliseconds(21), .interval = milliseconds(20)});
  EXPECT_TRUE(tracker.probe(kWay, result));
  EXPECT_NEAR(tracker.slowness(kWay), 2, 0.01);
}

}  // namespace
}  // namespace pareto::failover
