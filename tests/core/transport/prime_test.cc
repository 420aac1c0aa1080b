#include "core/transport/prime.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "core/transport/ping.h"
#include "core/transport/warmth.h"
#include "core/wire/codec.h"
#include "core/wire/frame.h"
#include "tests/core/transport/fake_link.h"

namespace pareto::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Message;
using wire::MessageKind;

TEST(Prime, GrowsToTheBoundaryAndStaysThereUntilItIsNoFaster) {
  Seen seen;
  FakeLink link(seen);
  const auto figures = prime(link, 7, 300'000, PingWay::kThere, in_good_time());
  ASSERT_TRUE(figures) << figures.error().message;
  std::vector<std::int64_t> sizes;
  for (const Message& message : seen.sent) {
    EXPECT_EQ(message.kind, MessageKind::kPing);
    EXPECT_EQ(message.pipeline, 7U);
    sizes.push_back(body_bytes(message));
  }
  EXPECT_TRUE(std::ranges::is_sorted(sizes));
  EXPECT_EQ(sizes.front(), 0);
  EXPECT_EQ(std::set(sizes.begin(), sizes.end()),
            (std::set<std::int64_t>{0, 64 << 10, 128 << 10, 256 << 10, 300'000}));
  EXPECT_GE(std::ranges::count(sizes, 300'000), 2);
  EXPECT_EQ(figures->primed_bytes, 300'000U);
}

/// One that is as slow as 2 MB/s and a round trip of 10 ms make it.
class SlowLink final : public FakeLink {
 public:
  using FakeLink::FakeLink;
  Expected<Sent> send(const Message& message, Deadline deadline) override {
    const std::chrono::duration<double> takes(0.01 +
                                              static_cast<double>(body_bytes(message)) / 2e6);
    arrives_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<Nanoseconds>(takes);
    return FakeLink::send(message, deadline);
  }
  Expected<Received> receive(Deadline deadline) override {
    std::this_thread::sleep_until(arrives_);
    return FakeLink::receive(deadline);
  }

 private:
  TimePoint arrives_{};
};

TEST(Prime, StopsWhereTheRateIsAllThatHoldsItUp) {
  Seen seen;
  SlowLink link(seen);
  const auto figures = prime(link, 7, 8 << 20, PingWay::kThere, in_good_time());
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_LE(body_bytes(seen.sent.back()), 2 << 20) << "and not the boundary";
  EXPECT_GE(figures->round_trip, milliseconds(10));
  EXPECT_GT(figures->bytes_per_second, 0U);
  // A sleep may take longer than it was asked to, that of the ping before too.
  EXPECT_LE(figures->bytes_per_second, 4'000'000U);
  EXPECT_EQ(figures->primed_bytes, UINT64_MAX) << "larger ones take longer by their bytes alone";
}

TEST(Prime, AWarmLinkIsSoForWhatItWasPrimedAndIsKeptWarmFor) {
  const LinkFigures far{milliseconds(40), 12'500'000, 3'000'000};
  constexpr bool kCools = true;
  EXPECT_EQ(warm_for(far, 300'000, !kCools), 3'000'000U);
  EXPECT_EQ(warm_for(far, 300'000, kCools), 300'000U) << "more would want more padding";
  // Larger than twice what is under way at once: padding is for that.
  EXPECT_EQ(warm_for(far, 2'000'000, kCools), 3'000'000U);
  const LinkFigures near{std::chrono::microseconds(100), 0, 300'000};
  EXPECT_EQ(warm_for(near, 300'000, kCools), 300'000U);
  EXPECT_EQ(warm_for(near, 400'000, kCools), 400'000U) << "it was opened for these, if in a hurry";
}

TEST(Prime, ShowsAPacedConnectionMoreThanItsRequests) {
  const auto largest_ping = [](std::uint64_t request, bool paced) {
    Seen seen;
    SlowLink link(seen);
    EXPECT_TRUE(prime(link, 7, request, PingWay::kThere, in_good_time(), paced));
    std::int64_t largest = 0;
    for (const Message& message : seen.sent) largest = std::max(largest, body_bytes(message));
    return largest;
  };
  EXPECT_EQ(largest_ping(31'000, false), 31'000);
  // Four times what is under way at once.
  EXPECT_GE(largest_ping(31'000, true), 80'000);
  EXPECT_EQ(largest_ping(4'000, false), 0) << "it fits whatever the link is";
  EXPECT_GE(largest_ping(4'000, true), 80'000);
}

TEST(Prime, LeavesTheTimeThatDeployingNeeds) {
  Seen seen;
  FakeLink link(seen);
  // There is none left for a second large one.
  const auto figures = prime(link, 7, 1 << 20, PingWay::kThere, std::chrono::steady_clock::now());
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_EQ(body_bytes(seen.sent.back()), 64 << 10);
  EXPECT_EQ(figures->primed_bytes, 64U << 10);
}

TEST(Prime, ACodecMakesItNoSmaller) {
  const auto tensor = incompressible(1 << 20);
  ASSERT_TRUE(tensor);
  const auto made = wire::find_codec("zstd");
  ASSERT_TRUE(made);
  Message message;
  message.body = *tensor;
  const auto frame = wire::encode_frame(message, {.payload_checksum = false, .codec = *made}, {});
  ASSERT_TRUE(frame);
  EXPECT_GE(frame->size_bytes(), 1U << 20);
}

}  // namespace
}  // namespace pareto::transport
