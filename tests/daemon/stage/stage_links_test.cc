// What a stage sees of its two links, and what they do by themselves.
#include "daemon/stage/stage_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

using test::message_of;
using test::request_message;
using test::soon;
using testing::HasSubstr;
using transport::Link;
using wire::MessageKind;

constexpr std::uint64_t kLinkedPipeline = 7;

class StageLinksTest : public testing::Test {
 protected:
  StageLinksTest()
      : transport_(transport::make_transport("inproc").value()),
        listener_(transport_->listen("").value()) {}

  /// Two ends of a link.
  std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> link() {
    auto here = transport_->connect(listener_->address(), soon()).value();
    return {std::move(here), listener_->accept(soon()).value()};
  }
  /// Attaches a link in that role. Returns the peer's end, which has been told that the stage is
  /// ready.
  std::unique_ptr<Link> attached(StageLinks& links, control::Role role) {
    auto [here, there] = link();
    EXPECT_TRUE(links.attach(hello(role), here, soon()));
    EXPECT_EQ(there->receive(soon()).value().message.kind, MessageKind::kReady);
    return std::move(there);
  }
  static control::Hello hello(control::Role role) { return {kLinkedPipeline, 1, role}; }
  static wire::Message ping() {
    wire::Message message = message_of(MessageKind::kPing, kLinkedPipeline);
    message.body = transport::ping_body(100, transport::PingWay::kThere).value();
    return message;
  }

  const std::unique_ptr<transport::Transport> transport_;
  const std::unique_ptr<transport::Listener> listener_;
  const std::shared_ptr<StageMeter> meter_ = std::make_shared<StageMeter>();
  const StageContext context_{kLinkedPipeline, 1, "camera", meter_};
};

TEST_F(StageLinksTest, ARequestComesWholeAndPingsAreAnsweredOnTheWay) {
  StageLinks links(context_, nullptr, 2, true);
  std::future<Expected<Arrival>> received;  // woken at the latest when the peer is gone
  const auto peer = attached(links, control::Role::kUpstream);
  received = std::async(std::launch::async, [&] { return links.receive(); });
  ASSERT_TRUE(peer->send(ping(), soon()));
  ASSERT_TRUE(peer->send(message_of(MessageKind::kPong, kLinkedPipeline), soon()));
  ASSERT_TRUE(
      peer->send(wire::part_message(kLinkedPipeline, 5, 0, 1, Value(test::filled(2.F))), soon()));
  wire::Message rest = request_message(kLinkedPipeline, 5, Tuple{{test::filled(1.F), None{}}});
  rest.sequence = 1;
  ASSERT_TRUE(peer->send(rest, soon()));

  const auto arrival = received.get();
  ASSERT_TRUE(arrival) << arrival.error().message;
  const wire::Message& message = arrival->received.message;
  EXPECT_EQ(message.kind, MessageKind::kValues);
  EXPECT_TRUE(bit_equal(message.body, Tuple{{test::filled(1.F), test::filled(2.F)}}));
  EXPECT_EQ(meter_->bytes_received, arrival->received.wire_bytes) << "of both frames";
  EXPECT_EQ(peer->receive(soon()).value().message.kind, MessageKind::kPong);
}

TEST_F(StageLinksTest, TheEndAndErrorsComeAsTheyAre) {
  StageLinks links(context_, nullptr, 1, true);
  const auto peer = attached(links, control::Role::kUpstream);
  ASSERT_TRUE(
      peer->send(control::error_message(kLinkedPipeline, 3, {ErrorCode::kClosed, "x"}), soon()));
  ASSERT_TRUE(peer->send(message_of(MessageKind::kEnd, kLinkedPipeline), soon()));
  EXPECT_EQ(links.receive().value().received.message.kind, MessageKind::kError);
  EXPECT_EQ(links.receive().value().received.message.kind, MessageKind::kEnd);
}

TEST_F(StageLinksTest, WhatDoesNotBelongOnALinkIsCorrupt) {
  for (const wire::Message& wrong :
       {message_of(MessageKind::kReady, kLinkedPipeline),
        request_message(kLinkedPipeline + 1, 0, 1.F),
        wire::part_message(kLinkedPipeline, 0, 0, 1, Value(test::filled(1.F)))}) {
    StageLinks links(context_, nullptr, 1, true);
    const auto peer = attached(links, control::Role::kUpstream);
    ASSERT_TRUE(peer->send(wrong, soon()));
    const auto refused = links.receive();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(refused.error().message, HasSubstr("upstream inproc"));
  }
  StageLinks links(context_, nullptr, 1, true);
  const auto sink = attached(links, control::Role::kSink);
  ASSERT_TRUE(sink->send(request_message(kLinkedPipeline, 0, 1.F), soon()));
  const Error ended = links.answer_pings();
  EXPECT_EQ(ended.code, ErrorCode::kCorrupt);
  EXPECT_THAT(ended.message, HasSubstr("downstream inproc"));
}

/// A stage's upstream link whose peer numbers its requests.
class OrderedLinks : public StageLinksTest {
 protected:
  /// Returns what becomes of the last of these requests; those before have come. Odd ones failed.
  Expected<Arrival> last_of(const std::vector<std::uint64_t>& requests, bool in_order = true) {
    StageLinks links(context_, nullptr, 1, true);
    auto [here, peer] = link();
    control::Hello said = hello(control::Role::kUpstream);
    said.in_order = in_order;
    EXPECT_TRUE(links.attach(said, here, soon()));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::uint64_t request = requests[i];
      const auto sent = request % 2 == 0
                            ? peer->send(request_message(kLinkedPipeline, request, 1.F), soon())
                            : peer->send(control::error_message(kLinkedPipeline, request,
                                                                {ErrorCode::kInternal, "failed"}),
                                         soon());
      EXPECT_TRUE(sent);
      if (i + 1 == requests.size()) break;
      EXPECT_TRUE(links.receive());
    }
    return links.receive();
  }
};

TEST_F(OrderedLinks, TakeEachRequestOnceAndInItsTurn) {
  EXPECT_TRUE(last_of({7, 8}));
  EXPECT_TRUE(last_of({0, 1, 2, 3}));
  EXPECT_TRUE(last_of({0, 1, 2, 0})) << "another load";
  for (const auto& [requests, why] :
       {std::pair{std::vector<std::uint64_t>{4, 5, 4}, "sent request 4 again: 6 is due"},
        std::pair{std::vector<std::uint64_t>{0, 1, 3},
                  "sent request 3 when 2 was due: some are missing"}}) {
    const auto refused = last_of(requests);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(refused.error().message, HasSubstr(why));
  }
}

TEST_F(OrderedLinks, TakeAnyRequestOfWhoPromisedNothing) { EXPECT_TRUE(last_of({4, 5, 9}, false)); }

TEST_F(OrderedLinks, APartThatIsNotDueIsRefused) {
  StageLinks links(context_, nullptr, 1, true);
  auto [here, peer] = link();
  control::Hello said = hello(control::Role::kUpstream);
  said.in_order = true;
  ASSERT_TRUE(links.attach(said, here, soon()));
  ASSERT_TRUE(peer->send(request_message(kLinkedPipeline, 5, 1.F), soon()));
  ASSERT_TRUE(
      peer->send(wire::part_message(kLinkedPipeline, 5, 0, 0, Value(test::filled(1.F))), soon()));
  ASSERT_TRUE(links.receive());
  EXPECT_EQ(links.receive().error().code, ErrorCode::kCorrupt);
}

TEST_F(StageLinksTest, AnotherShardMayTakeMoreValues) {
  StageLinks links(context_, nullptr, 1, true);
  const auto peer = attached(links, control::Role::kUpstream);
  links.expect_inputs(2);
  ASSERT_TRUE(
      peer->send(wire::part_message(kLinkedPipeline, 0, 0, 1, Value(test::filled(2.F))), soon()));
  wire::Message rest = request_message(kLinkedPipeline, 0, Tuple{{test::filled(1.F), None{}}});
  rest.sequence = 1;
  ASSERT_TRUE(peer->send(rest, soon()));
  EXPECT_TRUE(links.receive());
}

TEST_F(StageLinksTest, EachLinkIsTakenOnce) {
  StageLinks links(context_, nullptr, 1, true);
  const auto upstream = attached(links, control::Role::kUpstream);
  const auto sink = attached(links, control::Role::kSink);
  for (const auto role : {control::Role::kUpstream, control::Role::kSink}) {
    auto [here, there] = link();
    EXPECT_EQ(links.attach(hello(role), here, soon()).error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(here) << "it is the caller's";
  }
}

TEST_F(StageLinksTest, AStageWithANextOneTakesNoSink) {
  auto [downstream, next] = link();
  StageLinks links(context_, std::move(downstream), 1, true);
  EXPECT_FALSE(links.sink_connects());
  auto [here, there] = link();
  const auto refused = links.attach(hello(control::Role::kSink), here, soon());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "stage 1 on camera has a next stage, no sink");
}

TEST_F(StageLinksTest, ClosedTheyTakeNoLinkAndWakeWhoWaits) {
  StageLinks links(context_, nullptr, 1, true);
  const auto upstream = attached(links, control::Role::kUpstream);
  const auto sink = attached(links, control::Role::kSink);
  auto received = std::async(std::launch::async, [&] { return links.receive().error(); });
  auto answered = std::async(std::launch::async, [&] { return links.answer_pings(); });
  links.close();
  const Error error = received.get();
  EXPECT_EQ(error.code, ErrorCode::kClosed);
  EXPECT_THAT(error.message, HasSubstr("upstream link: "));
  EXPECT_EQ(answered.get().code, ErrorCode::kClosed);
  auto [here, there] = link();
  EXPECT_EQ(links.attach(hello(control::Role::kUpstream), here, soon()).error().code,
            ErrorCode::kClosed);
  EXPECT_TRUE(here);
}

TEST_F(StageLinksTest, OnlyUpstreamIsClosedForADrain) {
  StageLinks links(context_, nullptr, 1, true);
  const auto upstream = attached(links, control::Role::kUpstream);
  const auto sink = attached(links, control::Role::kSink);
  links.close_upstream();
  EXPECT_EQ(links.receive().error().code, ErrorCode::kClosed);
  StageItem end{message_of(MessageKind::kEnd, kLinkedPipeline)};
  EXPECT_TRUE(links.send_turn().send(end));
  EXPECT_EQ(sink->receive(soon()).value().message.kind, MessageKind::kEnd);
}

TEST_F(StageLinksTest, PingsFromDownstreamAreAnsweredUntilTheLinkEnds) {
  StageLinks links(context_, nullptr, 1, true);
  const auto sink = attached(links, control::Role::kSink);
  auto ended = std::async(std::launch::async, [&] { return links.answer_pings(); });
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(sink->send(ping(), soon()));
    EXPECT_EQ(sink->receive(soon()).value().message.kind, MessageKind::kPong);
  }
  sink->close();
  EXPECT_EQ(ended.get().code, ErrorCode::kClosed);
}

TEST_F(StageLinksTest, OneSenderAtATimeHasTheTurn) {
  StageLinks links(context_, nullptr, 1, true);
  const auto sink = attached(links, control::Role::kSink);
  {
    const SendTurn turn = links.send_turn();
    EXPECT_FALSE(
        std::async(std::launch::async, [&] { return links.try_send_turn().has_value(); }).get());
  }
  EXPECT_TRUE(links.try_send_turn());
}

TEST_F(StageLinksTest, PrimingMeasuresTheLinkToTheNextStage) {
  auto [downstream, next] = link();
  StageLinks links(context_, std::move(downstream), 1, true);
  const auto answering = std::async(std::launch::async, [&next = next] {
    transport::PingAnswers answers;
    while (auto received = next->receive()) {
      if (!answers.answer(*next, *std::move(received))) return;
    }
  });
  const auto figures = links.prime(1000, soon());
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_GT(figures->round_trip, Nanoseconds(0));
  EXPECT_EQ(meter_->round_trip, figures->round_trip.count());
  EXPECT_EQ(links.warm_for(), UINT64_MAX) << "until it is kept warm";
  links.keep_warm(*figures, 1000);
  EXPECT_GE(links.warm_for(), 1000U);
  links.close();
}

}  // namespace
}  // namespace pareto::daemon
