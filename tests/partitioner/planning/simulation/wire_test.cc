#include "partitioner/planning/simulation/wire.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pareto::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kMs = 1'000'000;

plan::LinkDirection link(Nanoseconds delay, std::uint64_t bits_per_second) {
  plan::LinkDirection direction;
  direction.delay = delay;
  direction.bits_per_second = bits_per_second;
  return direction;
}

plan::ConditionChange change(Nanoseconds at, std::uint64_t bits_per_second) {
  plan::ConditionChange row;
  row.at = at;
  row.bits_per_second = bits_per_second;
  return row;
}

Fate carry(const Wire& wire, std::int64_t begin, std::uint64_t bytes, std::int64_t shift = 0,
           std::uint64_t number = 0) {
  return wire.carry(begin, 0, bytes, shift, 1, number, 0);
}

TEST(Wire, WithoutAConditionNothingTakesTime) {
  const Fate fate = carry(Wire({}), 5, 1 << 20);
  EXPECT_EQ(fate.done, 5);
  EXPECT_EQ(fate.arrives, 5);
}

TEST(Wire, BytesAtTheRateThenTheDelay) {
  const Wire wire(link(milliseconds(20), 8'000'000));
  const Fate fate = wire.carry(100, 7, 10'000, 0, 1, 0, 0);
  EXPECT_EQ(fate.done, 107 + 10 * kMs);
  EXPECT_EQ(fate.arrives, fate.done + 20 * kMs);
}

TEST(Wire, PacketHeadersOfAFrame) {
  EXPECT_EQ(bytes_with_packet_headers(1), 53U);
  EXPECT_EQ(bytes_with_packet_headers(1448), 1500U);
  EXPECT_EQ(bytes_with_packet_headers(1449), 1449U + 2 * 52);
  for (const std::uint64_t bytes : {0U, 1U, 1448U, 1449U, 2896U, 2897U, 1'000'000U}) {
    EXPECT_EQ(bytes_without_packet_headers(bytes_with_packet_headers(bytes)), bytes);
  }
  EXPECT_EQ(bytes_without_packet_headers(0), 0U);
}

TEST(Wire, ARateThatChangesUnderway) {
  plan::LinkDirection direction = link(milliseconds(1), 8'000'000);
  direction.trace = {change(seconds(1), 4'000'000), change(seconds(2), 16'000'000)};
  const Wire wire(direction);
  // 10 ms at 1 byte/us, then the rest at half of it.
  EXPECT_EQ(carry(wire, 990 * kMs, 30'000).done, 1000 * kMs + 40 * kMs);
  // Across both steps: 500 ms of 1 byte/us, a second of 0.5, then 2.
  EXPECT_EQ(carry(wire, 500 * kMs, 1'200'000).done, 2000 * kMs + 100 * kMs);
  // What ends exactly with a step.
  EXPECT_EQ(carry(wire, 990 * kMs, 10'000).done, 1000 * kMs);
}

TEST(Wire, ATraceBeginsAgainWhereverItsLinkBegan) {
  plan::LinkDirection direction = link(milliseconds(1), 8'000'000);
  direction.trace = {change(seconds(1), 4'000'000)};
  direction.trace_period = seconds(2);
  const Wire wire(direction);
  EXPECT_EQ(carry(wire, 0, 1000).done, 1 * kMs);
  EXPECT_EQ(carry(wire, 1500 * kMs, 1000).done, 1502 * kMs);
  EXPECT_EQ(carry(wire, 2500 * kMs, 1000).done, 2501 * kMs);
  EXPECT_EQ(carry(wire, 3990 * kMs, 10'000).done, 4000 * kMs + 5 * kMs);
  EXPECT_EQ(carry(wire, 0, 1000, 1500 * kMs).done, 2 * kMs);
  EXPECT_EQ(wire.period(), seconds(2));
}

TEST(Wire, ADelayThatChanges) {
  plan::LinkDirection direction = link(milliseconds(10), 0);
  plan::ConditionChange row;
  row.at = seconds(1);
  row.delay = milliseconds(50);
  direction.trace = {row};
  const Wire wire(direction);
  EXPECT_EQ(carry(wire, 999 * kMs, 1 << 20).arrives, 1009 * kMs);
  EXPECT_EQ(carry(wire, 1000 * kMs, 1 << 20).arrives, 1050 * kMs);
}

TEST(Wire, JitterOfOnePacketHasItsDeviation) {
  plan::LinkDirection direction = link(milliseconds(20), 100'000'000);
  direction.jitter.deviation = milliseconds(4);
  for (const plan::JitterShape shape :
       {plan::JitterShape::kNormal, plan::JitterShape::kUniform, plan::JitterShape::kPareto}) {
    direction.jitter.shape = shape;
    const Wire wire(direction);
    constexpr int kCount = 200'000;
    double sum = 0;
    double squares = 0;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const Fate fate = carry(wire, 0, 100, 0, i);
      const double delay = static_cast<double>(fate.arrives - fate.done) / kMs;
      sum += delay;
      squares += delay * delay;
    }
    const double mean = sum / kCount;
    EXPECT_NEAR(mean, 20, 0.05) << to_string(shape);
    EXPECT_NEAR(std::sqrt(squares / kCount - mean * mean), 4, 0.08) << to_string(shape);
  }
}

TEST(Wire, AMessageIsAsLateAsTheLatestOfItsLastPackets) {
  // 12 Mbit/s: a packet a millisecond. Of 100 packets the mean of max(J_k - k ms) with J of 5 ms,
  // by brute force over all of them.
  plan::LinkDirection direction = link(milliseconds(20), 12'000'000);
  direction.jitter.deviation = milliseconds(5);
  const Wire wire(direction);
  constexpr int kCount = 20'000;
  double sum = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Fate fate = carry(wire, 0, 150'000, 0, i);
    sum += static_cast<double>(fate.arrives - fate.done) / kMs;
  }
  std::mt19937_64 random(1);
  std::normal_distribution<double> jitter(0, 5);
  double expected = 0;
  for (int i = 0; i < kCount; ++i) {
    double latest = -1e9;
    for (int back = 0; back < 100; ++back) latest = std::max(latest, jitter(random) - back);
    expected += latest;
  }
  EXPECT_NEAR(sum / kCount, 20 + expected / kCount, 0.1);
  EXPECT_GT(sum / kCount, 22);
}

TEST(Wire, LostPacketsAreSentAgain) {
  plan::LinkDirection direction = link(milliseconds(10), 12'000'000);
  direction.loss = 0.01;
  const Wire wire(direction);
  constexpr int kCount = 100'000;
  std::int64_t untouched = 0;
  double occupied = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Fate fate = carry(wire, 0, 30'000, 0, i);
    if (fate.arrives == fate.done + 10 * kMs) ++untouched;
    occupied += static_cast<double>(fate.done) / kMs;
    EXPECT_EQ((fate.arrives - fate.done - 10 * kMs) % (20 * kMs), 0);
  }
  // Of 20 packets of 1 ms each; each is sent 1 / 0.99 times.
  EXPECT_NEAR(static_cast<double>(untouched) / kCount, std::pow(0.99, 20), 0.005);
  EXPECT_NEAR(occupied / kCount, 20 / 0.99, 0.01);
}

TEST(Wire, ManyLossesOfALargeMessage) {
  plan::LinkDirection direction = link(milliseconds(10), 12'000'000);
  direction.loss = 0.2;
  const Wire wire(direction);
  constexpr int kCount = 2000;
  double occupied = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    occupied += static_cast<double>(carry(wire, 0, 15'000'000, 0, i).done) / kMs;
  }
  EXPECT_NEAR(occupied / kCount, 10'000 / 0.8, 10);
}

}  // namespace
}  // namespace pareto::simulation
