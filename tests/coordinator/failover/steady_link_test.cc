// Links and plans over a minute: what `deploy --follow` sees of a steady link, and of one that
// becomes faster.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "coordinator/failover/link_tracker.h"
#include "coordinator/failover/switch_rule.h"

namespace pareto::failover {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const LinkWay kFollowed{"tcp", 0, 1};
constexpr std::uint64_t kProbeBytes = 32 << 10;
constexpr milliseconds kLookEvery{250};
/// The time of a request on a device that does all of it.
constexpr double kAloneMs = 100;
/// The bytes that cross the link if two devices share a request, which takes each half as long.
constexpr std::uint64_t kCrossing = 250'000;

/// A link between two devices, as it was probed at 100 Mbit/s.
planning::ProbedTransport probed_at_100_mbit() {
  planning::ProbedTransport one{"tcp", planning::ProbedLinks(3)};
  for (auto& row : one.links) row.resize(3);
  transport::ProbeResult& link = one.links[0][1];
  link.round_trip = milliseconds(2);
  for (const std::uint64_t bytes : {std::uint64_t{kProbeBytes}, kCrossing}) {
    const Nanoseconds interval = from_nanoseconds(static_cast<double>(bytes) * 80);
    link.points.push_back(
        {.bytes = bytes, .crossing = interval + milliseconds(1), .interval = interval});
  }
  return one;
}

/// A deployment that follows its link. Time is the test's.
class Following {
 public:
  /// `sway`: the largest share by which messages take longer by chance.
  explicit Following(double sway) : sway_(0, sway) {}

  /// Lives for a time with a link of that rate. Returns when the plan changed first.
  std::optional<Nanoseconds> live(Nanoseconds time, double mbit) {
    std::optional<Nanoseconds> changed;
    for (const TimePoint end = now_ + time, begin = now_; now_ < end; now_ += kLookEvery) {
      if (look(mbit)) {
        ++changes_;
        if (!changed) changed = now_ - begin;
        cut_ = !cut_;
        rule_.made(seconds(2), now_);
      }
    }
    return changed;
  }
  int changes() const { return changes_; }

 private:
  Nanoseconds taken(std::uint64_t bytes, double mbit) {
    return from_nanoseconds(static_cast<double>(bytes) * 8000 / mbit * (1 + sway_(random_)));
  }
  /// Returns whether the plan is to change.
  bool look(double mbit) {
    if (cut_) {
      std::vector<LinkReading> readings;
      for (int i = 0; i < 5; ++i) readings.push_back({kCrossing, taken(kCrossing, mbit), true});
      tracker_.read(kFollowed, readings);
    } else if (now_ >= probe_after_) {
      const Nanoseconds took = taken(kProbeBytes, mbit);
      transport::ProbeResult result;
      result.round_trip = milliseconds(2);
      result.points.push_back(
          {.bytes = kProbeBytes, .crossing = took + milliseconds(1), .interval = took});
      tracker_.probe(kFollowed, result);
      if (!tracker_.wants_another_probe(kFollowed)) probe_after_ = now_ + 12 * 9 * took;
    }
    const double link = to_milliseconds(tracker_.links()[0].links[0][1].points.back().interval);
    const double shared = std::max(kAloneMs / 2, link);
    const double gain = cut_ ? shared / kAloneMs - 1 : kAloneMs / shared - 1;
    return rule_.consider(gain, tracker_.spread(), now_);
  }

  std::mt19937 random_{11};
  std::uniform_real_distribution<double> sway_;
  LinkTracker tracker_{{probed_at_100_mbit()}};
  SwitchRule rule_;
  TimePoint now_{seconds(1000)};
  TimePoint probe_after_{};
  bool cut_ = true;
  int changes_ = 0;
};

TEST(SteadyLink, ChangesNoPlanInAMinute) {
  // At 20 Mbit/s both plans are as good as each other, so that chance decides.
  for (const double mbit : {10.0, 15.0, 18.0, 19.0, 20.0, 21.0, 22.0, 25.0, 50.0, 100.0}) {
    Following following(0.10);
    // It may find the better plan first.
    following.live(seconds(30), mbit);
    EXPECT_EQ(following.live(seconds(60), mbit), std::nullopt) << mbit << " Mbit/s";
    EXPECT_LE(following.changes(), 1) << mbit << " Mbit/s";
  }
}

TEST(SteadyLink, OneThatBecomesFasterIsFoundWithinTenSeconds) {
  Following following(0.05);
  ASSERT_TRUE(following.live(seconds(30), 10)) << "slower: one device does all";
  const auto found = following.live(seconds(30), 50);
  ASSERT_TRUE(found) << "two devices share again";
  EXPECT_LE(*found, seconds(10));
  EXPECT_EQ(following.live(seconds(60), 50), std::nullopt);
}

TEST(SteadyLink, RightAfterAChangeToo) {
  Following following(0.05);
  const auto slower = following.live(seconds(5), 10);
  ASSERT_TRUE(slower);
  const auto faster = following.live(seconds(30), 50);
  ASSERT_TRUE(faster);
  EXPECT_LE(*faster, seconds(10));
}

}  // namespace
}  // namespace pareto::failover
