#include "core/transport/live_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "core/transport/prime.h"
#include "tests/core/transport/fake_link.h"
#include "tests/core/transport/fixture.h"

namespace pareto::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using wire::Message;
using wire::MessageKind;

std::unique_ptr<LiveLink> live(std::unique_ptr<Link> link, const LifeOptions& options) {
  return must(LiveLink::make(link, options));
}

/// A link that pads, and neither beats nor judges.
std::unique_ptr<LiveLink> padded(Seen& seen, std::int64_t bytes, Nanoseconds interval) {
  auto link = live(std::make_unique<FakeLink>(seen), {});
  Message padding;
  padding.kind = MessageKind::kPong;
  padding.body = Tensor::allocate(DType::kUInt8, {bytes}).value();
  link->pad_with(std::move(padding), interval);
  return link;
}

TEST(LiveLink, AnIdleLinkIsSentPaddingBetweenRequests) {
  Seen seen;
  const auto link = padded(seen, 5'000, milliseconds(1));
  Message request;
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(link->send(request, in_good_time()));
    ASSERT_TRUE(seen.wait_for([&] { return seen.count(MessageKind::kPong) >= 2 * i; }));
  }
  const std::lock_guard lock(seen.mutex);
  EXPECT_EQ(seen.count(MessageKind::kValues), 3U);
  for (const Message& message : seen.sent) {
    if (message.kind != MessageKind::kPong) continue;
    EXPECT_EQ(body_bytes(message), 5'000);
  }
}

TEST(LiveLink, PaddingAndRequestsAreSentOneAfterTheOther) {
  Seen seen;
  // Sent each microsecond, padding would always have its turn under a sanitizer.
  const auto link = padded(seen, 1, std::chrono::microseconds(200));
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(link->send({}, in_good_time()));
  ASSERT_TRUE(seen.wait_for([&] { return seen.count(MessageKind::kPong) > 0; }));
  const std::lock_guard lock(seen.mutex);
  EXPECT_FALSE(seen.overlapped);
}

TEST(LiveLink, ARequestBehindPaddingThatIsStuckHasItsDeadline) {
  Seen seen;
  seen.blocked = true;
  const auto link = padded(seen, 5'000, milliseconds(1));
  ASSERT_TRUE(seen.wait_for([&] { return seen.sending == 1; }));
  const auto sent = link->send({}, std::chrono::steady_clock::now() + milliseconds(1));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kTimeout);
  // Closing wakes what is stuck; the destructor would hang otherwise.
  link->close();
  EXPECT_EQ(link->send({}, in_good_time()).error().code, ErrorCode::kClosed);
}

TEST(LiveLink, PassesOnWhatIsSaidOfThePeer) {
  Seen seen;
  const auto link = padded(seen, 1, std::chrono::seconds(20));
  link->trust(4096);
  EXPECT_EQ(seen.trusted, 4096U);
  link->send_without_checksum();
  EXPECT_FALSE(seen.checksum);
  EXPECT_EQ(to_string(link->identity()), "somebody");
  EXPECT_TRUE(link->send({}, in_good_time())) << "it is nobody's turn any more";
}

TEST(LiveLink, NothingIsPaddedOnOneMachine) {
  Seen seen;
  const auto link = live(std::make_unique<FakeLink>(seen), {});
  link->primed({std::chrono::microseconds(50), 4'000'000'000, 300'000}, 300'000);
  ASSERT_TRUE(link->send({}, in_good_time()));
  EXPECT_EQ(seen.count(MessageKind::kPong), 0U);
}

/// Receives nothing until it is told that bytes came, and keeps its deadlines.
class QuietLink final : public FakeLink {
 public:
  using FakeLink::FakeLink;
  Expected<Received> receive(Deadline deadline) override {
    if (closed_) return fail(ErrorCode::kClosed, "closed");
    std::this_thread::sleep_until(*deadline);
    if (trickles_) ++bytes_;
    if (closed_) return fail(ErrorCode::kClosed, "closed");
    return fail(ErrorCode::kTimeout, "the deadline passed");
  }
  void close() override {
    closed_ = true;
    FakeLink::close();
  }
  std::uint64_t received_bytes() const override { return bytes_; }
  std::atomic<bool> trickles_{false};

 private:
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> bytes_{0};
};

constexpr Nanoseconds kShort = milliseconds(300);
constexpr LifeOptions kQuick{
    .peer_beat = kShortestBeat, .beat = kShortestBeat, .least_patience = kShort};

TEST(LiveLink, ShowsLifeWhileItSendsNothing) {
  Seen seen;
  const auto link = live(std::make_unique<QuietLink>(seen), kQuick);
  ASSERT_TRUE(seen.wait_for([&] { return seen.count(MessageKind::kPong) >= 3; }));
  const std::lock_guard lock(seen.mutex);
  EXPECT_EQ(seen.sent.front().request, kAnswersNoPing);
}

TEST(LiveLink, ThatWasConnectedToBeginsWithItsFirstMessage) {
  Seen seen;
  LifeOptions options = kQuick;
  options.begins_with_first_message = true;
  const auto link = live(std::make_unique<QuietLink>(seen), options);
  // Long enough for several beats.
  EXPECT_FALSE(link->receive(shortly()));
  {
    const std::lock_guard lock(seen.mutex);
    EXPECT_TRUE(seen.sent.empty());
  }
  ASSERT_TRUE(link->send({}, in_good_time()));
  ASSERT_TRUE(seen.wait_for([&] { return seen.count(MessageKind::kPong) >= 1; }));
  const std::lock_guard lock(seen.mutex);
  EXPECT_EQ(seen.sent.front().kind, MessageKind::kValues);
}

TEST(LiveLink, APeerThatShowsNoLifeIsLost) {
  Seen seen;
  const auto link = live(std::make_unique<QuietLink>(seen), kQuick);
  const auto received = link->receive(std::nullopt);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(received.error().message, HasSubstr("fake: no sign of life for 0.3 s"));
  EXPECT_TRUE(link->is_silent());
  const auto sent = link->send({}, in_good_time());
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message, received.error().message) << "not that the link is closed";
}

TEST(LiveLink, BytesOfAFrameThatIsNotWholeAreLife) {
  Seen seen;
  auto quiet = std::make_unique<QuietLink>(seen);
  quiet->trickles_ = true;
  const auto link = live(std::move(quiet), kQuick);
  const auto received = link->receive(deadline_after(2 * kShort));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kTimeout);
  EXPECT_FALSE(link->is_silent());
}

/// Says at once, and for ever, that it is alive.
class EagerLink final : public FakeLink {
 public:
  using FakeLink::FakeLink;
  Expected<Received> receive(Deadline /*deadline*/) override {
    Received received;
    received.message.kind = MessageKind::kPong;
    received.message.request = kAnswersNoPing;
    received.arrived = std::chrono::steady_clock::now();
    return received;
  }
};

TEST(LiveLink, NoNumberOfBeatsKeepsAReceiverFromItsDeadline) {
  Seen seen;
  LifeOptions options = kQuick;
  options.listens = true;
  const auto link = live(std::make_unique<EagerLink>(seen), options);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(code_of(link->receive(shortly())), ErrorCode::kTimeout);
}

TEST(LiveLink, APeerThatPromisedNothingIsNotJudged) {
  Seen seen;
  const auto link = live(std::make_unique<QuietLink>(seen), {});
  const auto received = link->receive(deadline_after(2 * kShort));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(seen.sent.empty()) << "nor is it shown life";
}

/// Beats so often that a busy machine keeps the link.
constexpr LifeOptions kPatient{.peer_beat = milliseconds(20),
                               .beat = milliseconds(20),
                               .least_patience = milliseconds(900),
                               .listens = true};

/// Both ends of a link between processes.
class LiveLinks : public testing::TestWithParam<std::string> {
 protected:
  LiveLinks()
      : transport_(must(make_transport(GetParam()))),
        listener_(must(transport_->listen(listen_address(*transport_)))) {
    Async accepting([&] { return listener_->accept(soon()); });
    here_ = must(transport_->connect(listener_->address(), soon()));
    // A shm link is accepted at once, a grpc one when it is connected.
    there_ = must(accepting.get());
  }
  /// Makes this end live, as a coordinator's. Its patience is short: the other one does not beat.
  std::unique_ptr<LiveLink> listening() {
    return live(std::move(here_), {.peer_beat = kBeat, .least_patience = kShort, .listens = true});
  }

  const std::unique_ptr<Transport> transport_;
  const std::unique_ptr<Listener> listener_;
  std::unique_ptr<Link> here_;
  std::unique_ptr<Link> there_;
};

TEST_P(LiveLinks, TwoThatBeatLastThoughNobodyReceivesAndNothingIsSent) {
  const auto here = live(std::move(here_), kPatient);
  const auto there = live(std::move(there_), kPatient);
  const auto nothing = there->receive(deadline_after(kPatient.least_patience + kBeat));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kTimeout) << nothing.error().message;
  ASSERT_TRUE(here->send(message_of(3, 100), soon()));
  EXPECT_EQ(must(there->receive(soon())).message.request, 3U);
  ASSERT_TRUE(there->send(message_of(4, 100), soon()));
  EXPECT_EQ(must(here->receive(soon())).message.request, 4U);
  EXPECT_FALSE(here->is_silent());
}

TEST_P(LiveLinks, AnIdleLinkWhoseOwnerDoesNotReceiveIsJudged) {
  const auto here = listening();
  // The other end keeps its connection, and says nothing.
  while (!here->is_silent()) std::this_thread::yield();
  const auto sent = here->send(message_of(1, 100), soon());
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(sent.error().message, HasSubstr("no sign of life"));
}

TEST_P(LiveLinks, ASenderWhosePeerDoesNotReadIsToldThatItIsLost) {
  const auto here = listening();
  Expected<Sent> sent;
  do {
    sent = here->send(message_of(1, 1 << 20), soon());
  } while (sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(sent.error().message, HasSubstr("no sign of life"));
}

TEST_P(LiveLinks, APeerThatDoesNotReadButBeatsIsWaitedFor) {
  const auto here = live(std::move(here_), kPatient);
  const auto there = live(std::move(there_), kPatient);
  Expected<Sent> sent;
  const Deadline deadline = deadline_after(kPatient.least_patience + kBeat);
  do {
    sent = here->send(message_of(1, 1 << 20), deadline);
  } while (sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kTimeout) << sent.error().message;
  EXPECT_FALSE(here->is_silent());
}

TEST_P(LiveLinks, WhatCameWhileItListenedIsNotLost) {
  const auto here = live(std::move(here_), kPatient);
  const auto there = live(std::move(there_), kPatient);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(there->send(message_of(i, 50'000), soon()));
  // Time for the thread that listens to take one.
  EXPECT_FALSE(there->receive(deadline_after(3 * kPatient.beat)));
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto received = must(here->receive(soon()));
    EXPECT_EQ(received.message.request, i);
    EXPECT_GE(received.cpu, Nanoseconds(0));
  }
  there->close();
  const auto end = here->receive(soon());
  EXPECT_EQ(code_of(end), ErrorCode::kClosed);
}

INSTANTIATE_TEST_SUITE_P(BetweenProcesses, LiveLinks, testing::Values("tcp", "grpc", "shm"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace pareto::transport
