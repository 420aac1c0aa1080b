// A link measured, and what is said where it is not the link asked for.
#include "netem/link_measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr const char* kNearAddress = "10.213.0.1";
constexpr const char* kFarAddress = "10.213.0.2";

plan::Condition slow_link() {
  plan::Condition condition;
  condition.forward.delay = condition.backward.delay = milliseconds(10);
  condition.forward.bits_per_second = 20'000'000;
  condition.backward.bits_per_second = 5'000'000;
  return condition;
}

TEST(LinkMeasurement, FindsWhatWasAskedFor) {
  const auto first = NetworkNamespace::create();
  const auto second = NetworkNamespace::create();
  if (!first || !second) GTEST_SKIP() << (first ? second : first).error().message;
  const LinkEnd near{*first, kNearAddress};
  const LinkEnd far{*second, kFarAddress};
  plan::Condition condition = slow_link();
  condition.forward.loss = 0.2;
  const auto link = LinkEmulator::create(near, far, condition);
  if (!link) GTEST_SKIP() << link.error().message;
  const auto measured = measure_link(near, far, {});
  ASSERT_TRUE(measured) << measured.error().message;
  // Nothing arrives early, and no more than was let through.
  EXPECT_GE(measured->round_trip, milliseconds(20));
  EXPECT_GT(measured->forward.loss, 0.05);
  EXPECT_LT(measured->backward.loss, 0.2);
  EXPECT_GT(measured->forward.bits_per_second, 0);
  EXPECT_LT(measured->forward.bits_per_second, 20e6 * 1.5);
  EXPECT_LT(measured->backward.bits_per_second, 5e6 * 1.5);
}

TEST(LinkMeasurement, WaitsForNothingMoreOfAStreamWhoseEndIsThere) {
  const auto first = NetworkNamespace::create();
  const auto second = NetworkNamespace::create();
  if (!first || !second) GTEST_SKIP() << (first ? second : first).error().message;
  const LinkEnd near{*first, kNearAddress};
  const LinkEnd far{*second, kFarAddress};
  const auto link = LinkEmulator::create(near, far, slow_link());
  if (!link) GTEST_SKIP() << link.error().message;
  MeasurementOptions options = measurement_for(slow_link());
  EXPECT_TRUE(options.in_order);
  options.probes = 1;
  // Longer than the test may take.
  options.patience = std::chrono::hours(1);
  const auto measured = measure_link(near, far, options);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_GT(measured->forward.bits_per_second, 0);
  EXPECT_GT(measured->backward.bits_per_second, 0);
}

TEST(LinkMeasurement, AnAddressThatIsNoneIsNamed) {
  const auto here = NetworkNamespace::create();
  if (!here) GTEST_SKIP() << here.error().message;
  const auto measured = measure_link({*here, "somewhere"}, {*here, kFarAddress}, {});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(measured.error().message, HasSubstr("\"somewhere\""));
}

plan::Condition jittery_link(Nanoseconds delay, Nanoseconds deviation) {
  plan::Condition condition;
  condition.forward.delay = condition.backward.delay = delay;
  condition.forward.jitter.deviation = condition.backward.jitter.deviation = deviation;
  return condition;
}

TEST(MeasurementFor, SpacesProbesSoThatJitterLeavesThemInOrder) {
  const auto usual = measurement_for(jittery_link(milliseconds(20), milliseconds(5)));
  EXPECT_GE(usual.interval, milliseconds(28));
  EXPECT_GE(usual.probes, 100);
  EXPECT_LE(usual.probes * usual.interval, milliseconds(5000));
  const auto much = measurement_for(jittery_link(milliseconds(40), milliseconds(20)));
  EXPECT_GE(much.interval, milliseconds(113));
  EXPECT_GE(much.probes, 100);
  const auto none = measurement_for(slow_link());
  EXPECT_EQ(none.interval, milliseconds(5));
  EXPECT_EQ(none.probes, 100);
}

TEST(MeasurementFor, TakesAsManyProbesForLossesAsFitInItsTime) {
  plan::Condition condition = jittery_link(milliseconds(20), milliseconds(5));
  condition.forward.loss = 0.01;
  const auto lossy = measurement_for(condition);
  EXPECT_GE(lossy.interval, milliseconds(28));
  EXPECT_GE(lossy.probes, 150);
  EXPECT_LE(lossy.probes * lossy.interval, milliseconds(5000));
  const auto wild = measurement_for(jittery_link(milliseconds(60'000), milliseconds(30'000)));
  EXPECT_EQ(wild.probes, 1);
  EXPECT_LE(wild.interval, milliseconds(20'000));
}

TEST(MeasurementFor, WaitsLongerThanTheLinkTakes) {
  EXPECT_EQ(measurement_for({}).patience, milliseconds(1000));
  plan::Condition condition;
  condition.forward.delay = condition.backward.delay = milliseconds(800);
  EXPECT_EQ(measurement_for(condition).patience, milliseconds(2600));
  condition.backward.trace = {{milliseconds(0), milliseconds(100), std::nullopt},
                              {milliseconds(10), milliseconds(3000), std::nullopt},
                              {milliseconds(20), std::nullopt, 1'000'000}};
  EXPECT_EQ(measurement_for(condition).patience, milliseconds(4800));
  condition.forward.jitter.deviation = milliseconds(100);
  EXPECT_EQ(measurement_for(condition).patience, milliseconds(5300));
}

TEST(MeasurementFor, TakesNoEndForTheLastWherePacketsOvertake) {
  EXPECT_TRUE(measurement_for(jittery_link(milliseconds(40), milliseconds(20))).in_order);
  plan::Condition condition;
  condition.backward.reorder = 0.01;
  EXPECT_FALSE(measurement_for(condition).in_order);
  condition = {};
  condition.forward.trace = {{milliseconds(0), std::nullopt, 1'000'000}};
  EXPECT_TRUE(measurement_for(condition).in_order);
  condition.forward.trace = {{milliseconds(0), milliseconds(100), std::nullopt}};
  EXPECT_FALSE(measurement_for(condition).in_order);
}

LinkMeasurement as_asked() {
  LinkMeasurement measured;
  measured.round_trip = milliseconds(20);
  measured.forward = {19.5e6, 0, 1000};
  measured.backward = {4.8e6, 0, 1000};
  return measured;
}

TEST(CheckMeasurement, TakesWhatIsNear) {
  EXPECT_TRUE(check_measurement(slow_link(), as_asked()));
  LinkMeasurement without_rates = as_asked();
  without_rates.forward.bits_per_second = without_rates.backward.bits_per_second = 0;
  EXPECT_TRUE(check_measurement(slow_link(), without_rates));
}

TEST(CheckMeasurement, TellsAllThatIsOff) {
  LinkMeasurement measured = as_asked();
  measured.round_trip = milliseconds(30);
  measured.forward.bits_per_second = 10e6;
  measured.backward.loss = 0.1;
  const auto checked = check_measurement(slow_link(), measured);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(checked.error().message, HasSubstr("a round trip of 30.0 ms, not 20.2"));
  EXPECT_THAT(checked.error().message, HasSubstr("forward: 10 Mbit/s of 20"));
  EXPECT_THAT(checked.error().message, HasSubstr("backward: 10% lost, not 0%"));
}

TEST(CheckMeasurement, TakesARateBeforeLossesAndOneAfterThem) {
  plan::Condition condition = slow_link();
  condition.forward.loss = 0.15;
  LinkMeasurement measured = as_asked();
  for (const double megabits : {15.5, 17.0, 20.0, 21.9}) {
    measured.forward = {megabits * 1e6, 0.15, 1000};
    EXPECT_TRUE(check_measurement(condition, measured)) << megabits;
  }
  measured.forward.bits_per_second = 15e6;
  EXPECT_THAT(check_measurement(condition, measured).error().message,
              HasSubstr("forward: 15 Mbit/s of 17"));
  measured.forward.bits_per_second = 23e6;
  EXPECT_THAT(check_measurement(condition, measured).error().message,
              HasSubstr("forward: 23 Mbit/s of 20"));
  condition.forward.loss = 0;
  condition.forward.duplicate = 0.5;
  measured.forward = {30e6, 0, 1000};
  EXPECT_TRUE(check_measurement(condition, measured));
  measured.forward.bits_per_second = 20e6;
  EXPECT_TRUE(check_measurement(condition, measured));
}

TEST(CheckMeasurement, KnowsWhatChanceMayDo) {
  plan::Condition condition = slow_link();
  condition.forward.loss = 0.05;
  LinkMeasurement measured = as_asked();
  measured.forward = {19e6, 0.06, 1000};
  EXPECT_TRUE(check_measurement(condition, measured));
  measured.forward.loss = 0.1;
  EXPECT_FALSE(check_measurement(condition, measured));
  // Half of the time bad, for two hundred packets: a tenth more or less is nothing unusual.
  condition.forward.loss = 0;
  condition.forward.burst_loss = plan::BurstLoss{.enter = 0.005, .leave = 0.005};
  measured.forward = {10e6, 0.6, 1000};
  EXPECT_TRUE(check_measurement(condition, measured));
}

}  // namespace
}  // namespace pareto::netem
