// What a sender leaves behind for the next one, and what becomes of what a link refuses.
#include "daemon/stage/send_turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/control/hello.h"
#include "core/wire/parts.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

using test::message_of;
using test::request_message;
using testing::ElementsAre;
using testing::HasSubstr;
using wire::MessageKind;

constexpr std::uint64_t kPipeline = 7;

/// A link that takes what it is told to take, and keeps it.
class ScriptedLink final : public transport::Link {
 public:
  Expected<transport::Sent> send(const wire::Message& message, Deadline) override {
    if (!errors.empty()) {
      const ErrorCode code = errors.front();
      errors.pop_front();
      if (code != ErrorCode::kInternal) return fail(code, "no");
    }
    sent.push_back(message);
    return takes;
  }
  Expected<transport::Received> receive(Deadline) override {
    return fail(ErrorCode::kClosed, "nothing comes");
  }
  void close() override {}
  std::string peer() const override { return "scripted"; }
  transport::PeerIdentity identity() const override { return {peer()}; }

  std::deque<ErrorCode> errors;  ///< sends to come; kInternal stands for success
  transport::Sent takes{Nanoseconds(2), Nanoseconds(5), 100, Nanoseconds(3)};
  std::vector<wire::Message> sent;
};

class SendTurnTest : public testing::Test {
 protected:
  Expected<> send(StageItem& item) {
    return SendTurn(std::unique_lock(mutex_), link_, state_, context_).send(item);
  }
  Expected<> send(wire::Message message) {
    StageItem item{std::move(message)};
    return send(item);
  }
  static wire::Message part(std::uint64_t request, std::uint32_t sequence) {
    return wire::part_message(kPipeline, request, sequence, sequence, Value(test::filled(1.F)));
  }
  std::vector<MessageKind> kinds() const {
    std::vector<MessageKind> kinds;
    for (const wire::Message& message : link_.sent) kinds.push_back(message.kind);
    return kinds;
  }

  std::timed_mutex mutex_;
  ScriptedLink link_;
  SenderState state_;
  const std::shared_ptr<StageMeter> meter_ = std::make_shared<StageMeter>();
  const StageContext context_{kPipeline, 1, "camera", meter_};
};

TEST_F(SendTurnTest, WhatSendingTookTravelsWithTheNextRequest) {
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(send(request_message(kPipeline, i, 1.F)));
  ASSERT_EQ(link_.sent.at(0).timeline.size(), 1U);
  EXPECT_EQ(link_.sent[0].timeline[0].send, Nanoseconds(0));
  ASSERT_EQ(link_.sent.at(1).timeline.size(), 1U);
  EXPECT_EQ(link_.sent[1].timeline[0].encode, Nanoseconds(2));
  EXPECT_EQ(link_.sent[1].timeline[0].send, Nanoseconds(5));
  EXPECT_EQ(link_.sent[1].timeline[0].send_cpu, Nanoseconds(3));
  EXPECT_EQ(meter_->answered, 2U);
  EXPECT_EQ(meter_->bytes_sent, 200U);
  EXPECT_EQ(meter_->sending, 2 * (2 + 5));
}

TEST_F(SendTurnTest, ARequestInPartsTookWhatAllOfThemTook) {
  ASSERT_TRUE(send(part(0, 0)));
  ASSERT_TRUE(send(request_message(kPipeline, 0, 1.F)));
  ASSERT_TRUE(send(request_message(kPipeline, 1, 1.F)));
  EXPECT_EQ(link_.sent.at(2).timeline.at(0).send, Nanoseconds(2 * 5));
  EXPECT_EQ(meter_->answered, 2U);
}

TEST_F(SendTurnTest, ErrorsAndTheEndCarryNoTimes) {
  ASSERT_TRUE(send(control::error_message(kPipeline, 0, {ErrorCode::kClosed, "x"})));
  ASSERT_TRUE(send(message_of(MessageKind::kEnd, kPipeline)));
  EXPECT_TRUE(link_.sent.at(0).timeline.empty());
  EXPECT_EQ(meter_->answered, 0U);
  EXPECT_EQ(meter_->bytes_sent, 100U) << "the end is not counted";
}

TEST_F(SendTurnTest, ValuesThatTheLinkRefusesLeaveAsAnError) {
  link_.errors = {ErrorCode::kExhausted};
  StageItem item{request_message(kPipeline, 4, 1.F)};
  ASSERT_TRUE(send(item));
  EXPECT_EQ(item.message.kind, MessageKind::kError);
  ASSERT_THAT(kinds(), ElementsAre(MessageKind::kError));
  EXPECT_EQ(link_.sent[0].request, 4U);
  EXPECT_EQ(control::error_of(link_.sent[0]).message, "stage 1 on camera: no");
  EXPECT_EQ(meter_->failed, 1U);
  EXPECT_EQ(meter_->answered, 0U);
}

TEST_F(SendTurnTest, OfARequestWhosePartIsRefusedOnlyTheErrorLeaves) {
  link_.errors = {ErrorCode::kInternal, ErrorCode::kInvalidArgument};
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(send(part(0, i)));
  ASSERT_TRUE(send(request_message(kPipeline, 0, 1.F)));
  ASSERT_TRUE(send(request_message(kPipeline, 1, 1.F)));
  EXPECT_THAT(kinds(), ElementsAre(MessageKind::kPart, MessageKind::kError, MessageKind::kValues));
  EXPECT_EQ(meter_->failed, 1U);
}

TEST_F(SendTurnTest, ABrokenLinkIsNamed) {
  link_.errors = {ErrorCode::kUnavailable};
  const auto broken = send(request_message(kPipeline, 0, 1.F));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(broken.error().message, "downstream link: no");
  EXPECT_EQ(meter_->failed, 0U);
}

TEST_F(SendTurnTest, SendingIsCheapIfItTookAQuarterOfTheComputing) {
  ASSERT_TRUE(send(request_message(kPipeline, 0, 1.F)));
  const SendTurn turn{std::unique_lock(mutex_), link_, state_, context_};
  EXPECT_TRUE(turn.is_cheap_after(Nanoseconds(20)));
  EXPECT_FALSE(turn.is_cheap_after(Nanoseconds(19)));
}

}  // namespace
}  // namespace pareto::daemon
