#include "core/transport/warm_link.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>
#include <vector>

#include "core/transport/prime.h"
#include "core/wire/codec.h"
#include "core/wire/frame.h"

namespace pareto::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Message;
using wire::MessageKind;

std::int64_t body_bytes(const Message& message) {
  const auto* tuple = message.body.get_if<Tuple>();
  const Tensor* tensor =
      tuple != nullptr ? tuple->items.back().get_if<Tensor>() : message.body.get_if<Tensor>();
  return tensor == nullptr ? 0 : static_cast<std::int64_t>(tensor->size_bytes());
}

/// The traffic of a link that a test sees: everything sent, in order, and every ping answered.
struct Seen {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Message> sent;
  bool closed = false;
  bool blocked = false;  ///< send waits until close()
  int sending = 0;
  bool overlapped = false;  ///< two sent at the same time
  std::uint64_t trusted = 0;
  bool checksum = true;

  bool wait_for(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, seconds(20), condition);
  }
  std::size_t count(MessageKind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(sent, [&](const Message& m) { return m.kind == kind; }));
  }
};

class FakeLink : public Link {
 public:
  explicit FakeLink(Seen& seen) : seen_(seen) {}
  Expected<Sent> send(const Message& message, Deadline) override {
    std::unique_lock lock(seen_.mutex);
    if (++seen_.sending > 1) seen_.overlapped = true;
    seen_.changed.notify_all();
    seen_.changed.wait(lock, [&] { return !seen_.blocked || seen_.closed; });
    --seen_.sending;
    if (seen_.closed) return fail(ErrorCode::kClosed, "closed");
    seen_.sent.push_back(message);
    seen_.changed.notify_all();
    return Sent{};
  }
  Expected<Received> receive(Deadline) override {
    const std::lock_guard lock(seen_.mutex);
    Received received;
    received.message = seen_.sent.back();
    received.message.kind = MessageKind::kPong;
    return received;
  }
  void close() override {
    const std::lock_guard lock(seen_.mutex);
    seen_.closed = true;
    seen_.changed.notify_all();
  }
  void trust(std::uint64_t max_frame_bytes) override { seen_.trusted = max_frame_bytes; }
  void send_without_checksum() override { seen_.checksum = false; }
  std::string peer() const override { return "fake"; }
  PeerIdentity identity() const override { return {"somebody", true}; }

 private:
  Seen& seen_;
};

Message padding(std::int64_t bytes) {
  Message message;
  message.kind = MessageKind::kPong;
  message.body = Tensor::allocate(DType::kUInt8, {bytes}).value();
  return message;
}

TimePoint in_good_time() { return std::chrono::steady_clock::now() + seconds(20); }

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

TEST(WarmLink, AnIdleLinkIsSentPaddingBetweenRequests) {
  Seen seen;
  WarmLink link(std::make_unique<FakeLink>(seen), padding(5'000), milliseconds(1));
  Message request;
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(link.send(request, in_good_time()));
    ASSERT_TRUE(seen.wait_for([&] { return seen.count(MessageKind::kPong) >= 2 * i; }));
  }
  const std::lock_guard lock(seen.mutex);
  EXPECT_EQ(seen.count(MessageKind::kValues), 3U);
  for (const Message& message : seen.sent) {
    if (message.kind != MessageKind::kPong) continue;
    EXPECT_EQ(body_bytes(message), 5'000);
  }
}

TEST(WarmLink, PaddingAndRequestsAreSentOneAfterTheOther) {
  Seen seen;
  WarmLink link(std::make_unique<FakeLink>(seen), padding(1), std::chrono::microseconds(1));
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(link.send({}, in_good_time()));
  ASSERT_TRUE(seen.wait_for([&] { return seen.count(MessageKind::kPong) > 0; }));
  const std::lock_guard lock(seen.mutex);
  EXPECT_FALSE(seen.overlapped);
}

TEST(WarmLink, ARequestBehindPaddingThatIsStuckHasItsDeadline) {
  Seen seen;
  seen.blocked = true;
  WarmLink link(std::make_unique<FakeLink>(seen), padding(5'000), milliseconds(1));
  ASSERT_TRUE(seen.wait_for([&] { return seen.sending == 1; }));
  const auto sent = link.send({}, std::chrono::steady_clock::now() + milliseconds(1));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kTimeout);
  // Closing wakes what is stuck; the destructor would hang otherwise.
  link.close();
  EXPECT_EQ(link.send({}, in_good_time()).error().code, ErrorCode::kClosed);
}

TEST(WarmLink, PassesOnWhatIsSaidOfThePeer) {
  Seen seen;
  WarmLink link(std::make_unique<FakeLink>(seen), padding(1), seconds(20));
  link.trust(4096);
  EXPECT_EQ(seen.trusted, 4096U);
  link.send_without_checksum();
  EXPECT_FALSE(seen.checksum);
  EXPECT_EQ(to_string(link.identity()), "somebody");
  EXPECT_TRUE(link.send({}, in_good_time())) << "it is nobody's turn any more";
}

TEST(KeepWarm, LeavesALinkOnOneMachineAsItIs) {
  Seen seen;
  auto link = std::make_unique<FakeLink>(seen);
  const Link* const plain = link.get();
  const auto kept =
      keep_warm(std::move(link), 7, {std::chrono::microseconds(50), 4'000'000'000}, 300'000);
  EXPECT_EQ(kept.get(), plain);
}

}  // namespace
}  // namespace pareto::transport
