#include "core/transport/link_probe.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "core/transport/ping.h"

namespace pareto::transport {
namespace {

using testing::HasSubstr;
using wire::Message;
using wire::MessageKind;

TimePoint in_time() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

/// A link whose time is up when it is to send more of such messages than a limit.
class OverdueLink final : public Link {
 public:
  OverdueLink(Link& link, std::uint64_t bytes, int messages)
      : link_(link), bytes_(bytes), left_(messages) {}
  Expected<Sent> send(const Message& message, Deadline deadline) override {
    if (tensor_bytes(message.body) >= bytes_ && left_-- == 0) {
      return fail(ErrorCode::kTimeout, "the deadline passed");
    }
    return link_.send(message, deadline);
  }
  Expected<Received> receive(Deadline deadline) override { return link_.receive(deadline); }
  void close() override { link_.close(); }
  std::string peer() const override { return link_.peer(); }
  PeerIdentity identity() const override { return link_.identity(); }

 private:
  Link& link_;
  const std::uint64_t bytes_;
  int left_;
};

/// A link on which messages without a body are answered late, as if the far end has something else
/// to do; counts the others.
class BusyLink final : public Link {
 public:
  explicit BusyLink(Link& link) : link_(link) {}
  Expected<Sent> send(const Message& message, Deadline deadline) override {
    empty_ = tensor_bytes(message.body) == 0;
    if (!empty_) ++sent_;
    const int now = ++under_way_;
    for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
    }
    return link_.send(message, deadline);
  }
  Expected<Received> receive(Deadline deadline) override {
    if (empty_) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --under_way_;
    return link_.receive(deadline);
  }
  void close() override { link_.close(); }
  std::string peer() const override { return link_.peer(); }
  PeerIdentity identity() const override { return link_.identity(); }
  int sent() const { return sent_; }
  /// Returns the most that were sent and not asked for.
  int most_under_way() const { return most_; }

 private:
  Link& link_;
  std::atomic<bool> empty_ = false;
  std::atomic<int> sent_ = 0;
  std::atomic<int> under_way_ = 0;
  std::atomic<int> most_ = 0;
};

/// Says that sending takes so much processor time.
class LaboriousLink final : public Link {
 public:
  LaboriousLink(Link& link, Nanoseconds cpu) : link_(link), cpu_(cpu) {}
  Expected<Sent> send(const Message& message, Deadline deadline) override {
    auto sent = link_.send(message, deadline);
    if (sent) sent->cpu = cpu_;
    return sent;
  }
  Expected<Received> receive(Deadline deadline) override { return link_.receive(deadline); }
  void close() override { link_.close(); }
  std::string peer() const override { return link_.peer(); }
  PeerIdentity identity() const override { return link_.identity(); }

 private:
  Link& link_;
  const Nanoseconds cpu_;
};

/// Two ends of a link, of which the far one answers pings until it is closed.
class LinkProbeTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { connect(); }
  void connect() {
    const bool named = std::string_view(GetParam()) == "inproc";
    transport_ = make_transport(GetParam()).value();
    auto listener = transport_->listen(named ? "" : "127.0.0.1:0").value();
    near_ = transport_->connect(listener->address(), in_time()).value();
    far_ = listener->accept(in_time()).value();
    answering_ = std::jthread([this] {
      PingAnswers answers;
      while (auto received = far_->receive()) {
        const auto answered = answers.answer(*far_, *std::move(received));
        if (answered) continue;
        refusal_ = answered.error();
        break;
      }
      far_->close();
    });
  }
  void TearDown() override { near_->close(); }

  Message ping(Value body) {
    Message message;
    message.kind = MessageKind::kPing;
    message.request = ++request_;
    message.body = std::move(body);
    return message;
  }

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Link> near_;
  std::unique_ptr<Link> far_;
  std::uint64_t request_ = 0;
  Error refusal_{ErrorCode::kInternal, ""};
  std::jthread answering_;
};

TEST_P(LinkProbeTest, MeasuresEverySizeBothWays) {
  for (const PingWay way : {PingWay::kThere, PingWay::kBack}) {
    ProbeOptions options;
    options.sizes = {300'000, 1000};
    options.way = way;
    const auto result = probe_link(*near_, options, in_time());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_GT(result->round_trip.count(), 0);
    ASSERT_EQ(result->points.size(), 2U);
    EXPECT_EQ(result->points[0].bytes, 1000U) << "the smaller first";
    EXPECT_EQ(result->points[1].bytes, 300'000U);
    for (const ProbePoint& point : result->points) {
      EXPECT_GE(point.crossing.count(), 0);
      EXPECT_GT(point.interval.count(), 0);
    }
  }
}

TEST_P(LinkProbeTest, HasNoMoreUnderWayThanAPeerMayKeep) {
  BusyLink link(*near_);
  ProbeOptions options;
  options.sizes = {64};
  const auto result = probe_link(link, options, in_time());
  ASSERT_TRUE(result);
  EXPECT_GT(result->points.at(0).crossing.count(), 0)
      << "a small message that was held up makes no other one's way nothing";
  // shm keeps 256 for a peer.
  EXPECT_LT(link.most_under_way(), 256);
  EXPECT_GT(link.sent(), 100) << "the round trip that it saw is long";
}

TEST_P(LinkProbeTest, NothingFollowsFasterThanItsEndsWork) {
  ProbeOptions options;
  options.sizes = {1000};
  LaboriousLink busy(*near_, std::chrono::hours(1));
  const auto result = probe_link(busy, options, in_time());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->points.at(0).interval, std::chrono::minutes(30));
}

TEST_P(LinkProbeTest, LeavesOutWhatWouldTakeLong) {
  ProbeOptions options;
  options.sizes = {1000, 2000, 300'000, 600'000};
  options.slow = {};
  const auto result = probe_link(*near_, options, in_time());
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->points.size(), 2U);
  EXPECT_EQ(result->points[1].bytes, 2000U);
}

TEST_P(LinkProbeTest, EndsWithWhatItHasWhereItsTimeIsUp) {
  ProbeOptions options;
  options.sizes = {1000, 2000, 300'000};
  options.budget = {};
  options.slow = std::chrono::hours(1);
  // Of each size four messages are alone, and then several follow each other.
  for (const int messages : {0, 5}) {
    OverdueLink overdue(*near_, 300'000, messages);
    const auto result = probe_link(overdue, options, in_time());
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->points.size(), 2U);
    EXPECT_EQ(result->points[1].bytes, 2000U);
    EXPECT_EQ(near_->receive(in_time()).error().code, ErrorCode::kClosed);
    answering_.join();
    connect();
  }
  options.sizes = {1000, 300'000};
  OverdueLink overdue(*near_, 300'000, 0);
  EXPECT_EQ(probe_link(overdue, options, in_time()).error().code, ErrorCode::kTimeout)
      << "one size alone says nothing of others";
}

TEST_P(LinkProbeTest, RefusesSizesThatAreNone) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, kLargestPingBytes + 1}) {
    ProbeOptions options;
    options.sizes = {bytes};
    const auto result = probe_link(*near_, options, in_time());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_P(LinkProbeTest, EndsWithTheLink) {
  far_->close();
  ProbeOptions options;
  options.sizes = {1000};
  EXPECT_FALSE(probe_link(*near_, options, in_time()));
}

TEST_P(LinkProbeTest, PingsAreAnsweredWithAsManyBytesAsTheyWant) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{70'000}}) {
    const Message message = ping(ping_body(bytes, PingWay::kBack).value());
    ASSERT_TRUE(near_->send(message, in_time()));
    const auto pong = near_->receive(in_time());
    ASSERT_TRUE(pong);
    EXPECT_TRUE(read_pong(pong->message, message.request));
    EXPECT_FALSE(read_pong(pong->message, message.request + 1));
    EXPECT_EQ(tensors_of(pong->message.body).at(0)->size_bytes(), bytes);
  }
}

TEST_P(LinkProbeTest, AnyOtherPingIsAnsweredWithoutABody) {
  for (const Value& body :
       {Value(None{}), Value(std::int64_t{7}), Value(Tuple{{std::string("x"), None{}}}),
        Value(incompressible(100).value())}) {
    const Message message = ping(body);
    ASSERT_TRUE(near_->send(message, in_time()));
    const auto pong = near_->receive(in_time());
    ASSERT_TRUE(pong);
    EXPECT_EQ(pong->message.kind, MessageKind::kPong);
    EXPECT_NE(pong->message.body.get_if<None>(), nullptr);
    EXPECT_EQ(read_pong(pong->message, message.request).error().code, ErrorCode::kCorrupt);
  }
}

TEST_P(LinkProbeTest, NobodyIsMadeToHoldMoreThanTheLimit) {
  for (const std::int64_t wanted :
       {std::int64_t{-1}, std::int64_t{kLargestPingBytes} + 1, INT64_MAX}) {
    ASSERT_TRUE(near_->send(ping(Tuple{{wanted, None{}}}), in_time()));
    EXPECT_FALSE(near_->receive(in_time())) << "it hangs up";
    answering_.join();
    EXPECT_EQ(refusal_.code, ErrorCode::kCorrupt);
    EXPECT_THAT(refusal_.message, HasSubstr("wants"));
    connect();
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, LinkProbeTest, testing::Values("inproc", "tcp"),
                         [](const auto& transport) { return std::string(transport.param); });

}  // namespace
}  // namespace pareto::transport
