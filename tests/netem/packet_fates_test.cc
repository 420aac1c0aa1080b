// What happens to packets, against what was asked for: a hundred thousand of them, the same ones
// every time.
#include "netem/packet_fates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;

constexpr int kPackets = 100'000;
constexpr Nanoseconds kDelay = milliseconds(50);

std::vector<PacketFate> fates_of(const plan::LinkDirection& direction, std::uint64_t seed = 1) {
  PacketFates fates(direction, seed);
  std::vector<PacketFate> all;
  for (int i = 0; i < kPackets; ++i) all.push_back(fates.next(kDelay));
  return all;
}

template <typename Predicate>
double share_of(const std::vector<PacketFate>& fates, Predicate predicate) {
  return static_cast<double>(std::ranges::count_if(fates, predicate)) /
         static_cast<double>(fates.size());
}

double lost_share(const std::vector<PacketFate>& fates) {
  return share_of(fates, [](const PacketFate& fate) { return fate.lost; });
}

/// Returns half the width of the 99 % interval of a share over all packets.
double binomial(double share) { return 2.576 * std::sqrt(share * (1 - share) / kPackets); }

struct Moments {
  double mean = 0;
  double deviation = 0;
  double correlation = 0;  ///< correlation of neighbours
};

Moments delays_of(const std::vector<PacketFate>& fates) {
  Moments moments;
  const auto count = static_cast<double>(fates.size());
  for (const PacketFate& fate : fates) moments.mean += to_milliseconds(fate.delay) / count;
  double neighbours = 0;
  double before = 0;
  for (const PacketFate& fate : fates) {
    const double off = to_milliseconds(fate.delay) - moments.mean;
    moments.deviation += off * off / count;
    neighbours += off * before / count;
    before = off;
  }
  moments.correlation = neighbours / moments.deviation;
  moments.deviation = std::sqrt(moments.deviation);
  return moments;
}

TEST(PacketFates, WithoutAConditionNothingHappens) {
  for (const PacketFate& fate : fates_of({})) {
    ASSERT_FALSE(fate.lost || fate.duplicated || fate.overtakes);
    ASSERT_EQ(fate.delay, kDelay);
  }
}

TEST(PacketFates, SharesAreAsAskedFor) {
  for (const double share : {0.001, 0.01, 0.05, 0.3}) {
    plan::LinkDirection direction;
    direction.loss = share;
    EXPECT_NEAR(lost_share(fates_of(direction)), share, binomial(share));
    direction = {};
    direction.duplicate = share;
    const auto is_twice = [](const PacketFate& fate) { return fate.duplicated; };
    EXPECT_NEAR(share_of(fates_of(direction), is_twice), share, binomial(share));
    direction = {};
    direction.reorder = share;
    const auto overtakes = [](const PacketFate& fate) {
      return fate.overtakes && fate.delay.count() == 0;
    };
    EXPECT_NEAR(share_of(fates_of(direction), overtakes), share, binomial(share));
  }
}

TEST(PacketFates, LossesComeInBursts) {
  plan::LinkDirection direction;
  direction.burst_loss =
      plan::BurstLoss{.enter = 0.01, .leave = 0.25, .when_bad = 1, .when_good = 0};
  const auto fates = fates_of(direction);
  // Bad for enter / (enter + leave) of the time, 1 / leave packets at a time.
  EXPECT_NEAR(lost_share(fates), 0.01 / 0.26, 0.005);
  int bursts = 0;
  int lost = 0;
  bool before = false;
  for (const PacketFate& fate : fates) {
    bursts += fate.lost && !before ? 1 : 0;
    lost += fate.lost ? 1 : 0;
    before = fate.lost;
  }
  EXPECT_NEAR(static_cast<double>(lost) / bursts, 4, 0.3);
}

TEST(PacketFates, ABadTimeMayLoseOnlySome) {
  plan::LinkDirection direction;
  direction.burst_loss =
      plan::BurstLoss{.enter = 0.1, .leave = 0.1, .when_bad = 0.4, .when_good = 0.02};
  EXPECT_NEAR(lost_share(fates_of(direction)), 0.21, 0.01);
}

TEST(PacketFates, JitterHasTheDeviationAskedForInEveryShape) {
  for (const plan::JitterShape shape :
       {plan::JitterShape::kNormal, plan::JitterShape::kUniform, plan::JitterShape::kPareto}) {
    for (const double correlation : {0.0, 0.5}) {
      plan::LinkDirection direction;
      direction.jitter = {milliseconds(5), correlation, shape};
      const Moments moments = delays_of(fates_of(direction));
      EXPECT_NEAR(moments.mean, 50, 0.2) << to_string(shape);
      EXPECT_NEAR(moments.deviation, 5, 0.5) << to_string(shape);
      EXPECT_NEAR(moments.correlation, correlation, 0.12) << to_string(shape);
    }
  }
}

TEST(PacketFates, NoPacketArrivesBeforeItLeft) {
  plan::LinkDirection direction;
  direction.jitter.deviation = milliseconds(25);
  for (const PacketFate& fate : fates_of(direction)) ASSERT_GE(fate.delay.count(), 0);
}

TEST(PacketFates, TheSameSeedGivesTheSameFates) {
  plan::LinkDirection direction;
  direction.loss = 0.5;
  const auto losses = [&](std::uint64_t seed) {
    std::vector<bool> lost;
    for (const PacketFate& fate : fates_of(direction, seed)) lost.push_back(fate.lost);
    return lost;
  };
  EXPECT_EQ(losses(1), losses(1));
  EXPECT_NE(losses(1), losses(2));
}

}  // namespace
}  // namespace pareto::netem
