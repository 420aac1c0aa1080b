#include "daemon/stage/stage_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <future>
#include <thread>

#include "core/base/printable.h"
#include "core/plan/protocol.h"
#include "tests/daemon/stage/stage_host_fixture.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

using test::connect_as;
using test::FirstRun;
using test::message_of;
using test::request_message;
using test::soon;
using testing::HasSubstr;
using wire::MessageKind;

TEST_F(StageHostTest, RefusesWhatCannotBeOpened) {
  auto wrong = request();
  wrong.asked.queue = 0;
  EXPECT_EQ(host_->open(wrong).error().code, ErrorCode::kInvalidArgument);
  wrong.asked.queue = StageHost::kMaxQueue + 1;
  EXPECT_EQ(host_->open(wrong).error().code, ErrorCode::kInvalidArgument);
  for (const double weight : {0.0, -1.0, 101.0, std::nan(""), HUGE_VAL}) {
    wrong = request();
    wrong.asked.weight = weight;
    EXPECT_EQ(host_->open(wrong).error().code, ErrorCode::kInvalidArgument) << weight;
  }
  for (const int priority : {-128, 128, INT_MIN, INT_MAX}) {
    wrong = request();
    wrong.asked.priority = priority;
    EXPECT_EQ(host_->open(wrong).error().code, ErrorCode::kInvalidArgument) << priority;
  }
  wrong = request();
  wrong.asked.transport = "carrier pigeon";
  const auto refused = host_->open(wrong);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(refused.error().message, HasSubstr("only inproc"));
  wrong = request();
  wrong.asked.downstream = "nobody";
  EXPECT_EQ(host_->open(wrong).error().code, ErrorCode::kUnavailable);
  ASSERT_TRUE(host_->open(request()));
  EXPECT_EQ(host_->open(request()).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(host_->start(kHostedPipeline, 1, soon()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(host_->close(8, 0).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(host_->status().size(), 1U);
}

TEST_F(StageHostTest, TakesAndConnectsLinksOfDifferentTransports) {
  const std::shared_ptr<transport::Transport> tcp = transport::make_transport("tcp").value();
  StageHostOptions options;
  options.device = "here";
  // Listens by one, and knows both.
  const auto first =
      StageHost::listen(options, {tcp, transport_}, {{"tcp", "127.0.0.1:0"}}).value();
  const auto last =
      StageHost::listen(options, {tcp, transport_}, {{"tcp", "127.0.0.1:0"}, {"inproc", ""}})
          .value();
  const StageAddresses end =
      last->open({{kHostedPipeline, 1, "", "inproc", "tcp", ""}, shard_}).value();
  EXPECT_EQ(end.upstream, last->addresses().at(1).address);
  EXPECT_EQ(end.sink, last->addresses().at(0).address);
  const StageAddresses front =
      first->open({{kHostedPipeline, 0, "", "tcp", "inproc", end.upstream}, shard_}).value();
  EXPECT_EQ(front.sink, "");
  const auto source =
      connect_as(*tcp, front.upstream, {kHostedPipeline, 0, control::Role::kUpstream}).value();
  const auto sink = connect_as(*tcp, end.sink, {kHostedPipeline, 1, control::Role::kSink}).value();
  ASSERT_TRUE(last->start(kHostedPipeline, 1, soon()));
  ASSERT_TRUE(first->start(kHostedPipeline, 0, soon()));
  ASSERT_TRUE(source->send(request_message(kHostedPipeline, 0, 1.0F), soon()));
  const auto result = sink->receive(soon());
  ASSERT_TRUE(result) << result.error().message;
  // Each adds its number of operators.
  const auto operators = static_cast<float>(shard_->shard().end - shard_->shard().begin);
  EXPECT_EQ(test::first_float(result->message.body), 1 + 2 * operators);

  const auto sink_by_neither = first->open({{8, 0, "", "tcp", "inproc", ""}, shard_});
  EXPECT_EQ(sink_by_neither.error().code, ErrorCode::kNotFound);
  const auto next_by_neither = first->open({{8, 0, "", "tcp", "pigeon", "nest"}, shard_});
  EXPECT_EQ(next_by_neither.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(next_by_neither.error().message, HasSubstr("only tcp, inproc"));
}

TEST(StageHostListening, TwiceOnOnePortIsRefused) {
  const std::shared_ptr<transport::Transport> tcp = transport::make_transport("tcp").value();
  const auto first = test::host_on(tcp, "127.0.0.1:0").value();
  const std::string address = first->addresses().at(0).address;
  const auto second = test::host_on(tcp, address);
  EXPECT_EQ(second.error().code, ErrorCode::kPermission);
  EXPECT_THAT(second.error().message, HasSubstr(address));
}

TEST_F(StageHostTest, OnlyAnIdleStageThatRunsTakesAnotherShard) {
  const auto change = [&] { return host_->change_shard(kHostedPipeline, 0, shard_); };
  EXPECT_EQ(change().error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(host_->open(request()));
  EXPECT_THAT(change().error().message, HasSubstr("opening"));
  const auto source = connect({kHostedPipeline, 0, control::Role::kUpstream}).value();
  const auto sink = connect({kHostedPipeline, 0, control::Role::kSink}).value();
  ASSERT_TRUE(host_->start(kHostedPipeline, 0, soon()));
  FirstRun first(*runs_);
  ASSERT_TRUE(source->send(request_message(kHostedPipeline, 0, 1.F), soon()));
  first.wait_until_it_runs();
  const auto busy = change();
  EXPECT_EQ(busy.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(busy.error().message, HasSubstr("1 request in flight"));
  first.go_on();
  ASSERT_TRUE(sink->receive(soon()));
  EXPECT_TRUE(change());
}

TEST_F(StageHostTest, StartingWaitsForBothLinksAndSaysWhichIsMissing) {
  ASSERT_TRUE(host_->open(request()));
  const auto brief = [] { return *deadline_after(std::chrono::milliseconds(20)); };
  const auto nobody = host_->start(kHostedPipeline, 0, brief());
  EXPECT_EQ(nobody.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(nobody.error().message, HasSubstr("upstream"));
  const auto upstream = connect({kHostedPipeline, 0, control::Role::kUpstream});
  const auto no_sink = host_->start(kHostedPipeline, 0, brief());
  EXPECT_EQ(no_sink.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(no_sink.error().message, HasSubstr("sink"));
  auto started = std::async(std::launch::async,
                            [&] { return host_->start(kHostedPipeline, 0, soon()).has_value(); });
  const auto sink = connect({kHostedPipeline, 0, control::Role::kSink});
  EXPECT_TRUE(started.get());
}

TEST_F(StageHostTest, ARequestThatComesBeforeTheStartWaitsForIt) {
  ASSERT_TRUE(host_->open(request()));
  const auto source = connect({kHostedPipeline, 0, control::Role::kUpstream});
  ASSERT_TRUE(source) << source.error().message;
  // A stage that has waited for a request would like to compute it at once.
  const TimePoint begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < begin + std::chrono::milliseconds(1)) {
  }
  ASSERT_TRUE((*source)->send(request_message(kHostedPipeline, 0, 1.F), soon()));
  while (host_->status().at(0).requests == 0) std::this_thread::yield();
  const auto sink = connect({kHostedPipeline, 0, control::Role::kSink});
  ASSERT_TRUE(sink) << sink.error().message;
  EXPECT_EQ(runs_->runs, 0);
  ASSERT_TRUE(host_->start(kHostedPipeline, 0, soon()));
  const auto result = (*sink)->receive(soon());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->message.kind, MessageKind::kValues);
}

TEST_F(StageHostTest, ClosingWakesWhoWaitsForTheStart) {
  ASSERT_TRUE(host_->open(request()));
  auto started = std::async(std::launch::async,
                            [&] { return host_->start(kHostedPipeline, 0, soon()).error().code; });
  ASSERT_TRUE(host_->close(kHostedPipeline, 0));
  const ErrorCode code = started.get();
  EXPECT_TRUE(code == ErrorCode::kClosed || code == ErrorCode::kNotFound) << to_string(code);
}

TEST_F(StageHostTest, WhatDoesNotBelongOnALinkFailsTheStage) {
  struct Case {
    wire::Message message;
    std::string failure;
  };
  for (const Case& wrong : {Case{message_of(MessageKind::kHello), "kind 1"},
                            Case{request_message(8, 0, 1.F), "pipeline 8"}}) {
    ASSERT_TRUE(host_->open(request()));
    const auto upstream = connect({kHostedPipeline, 0, control::Role::kUpstream}).value();
    const auto sink = connect({kHostedPipeline, 0, control::Role::kSink}).value();
    ASSERT_TRUE(host_->start(kHostedPipeline, 0, soon()));
    ASSERT_TRUE(upstream->send(wrong.message, soon()));
    EXPECT_FALSE(sink->receive(soon()));
    const control::StageReport status = host_->close(kHostedPipeline, 0).value();
    EXPECT_EQ(status.state, control::StageState::kFailed);
    EXPECT_THAT(status.failure, HasSubstr(wrong.failure));
  }
}

TEST_F(StageHostTest, AResultOverTheLimitFailsItsRequestOnly) {
  const auto [source, sink] = start_neighbours(4096);
  const Tensor large = Tensor::allocate(DType::kFloat32, {1, 4096}).value();
  ASSERT_TRUE(source->send(request_message(kHostedPipeline, 0, Tuple{{large}}), soon()));
  ASSERT_TRUE(source->send(request_message(kHostedPipeline, 1, 1.F), soon()));
  const auto failed = sink->receive(soon()).value();
  EXPECT_EQ(failed.message.kind, MessageKind::kError);
  EXPECT_EQ(control::error_of(failed.message).code, ErrorCode::kExhausted);
  EXPECT_EQ(sink->receive(soon()).value().message.kind, MessageKind::kValues);
}

TEST_F(StageHostTest, APartOverTheLimitFailsItsRequestOnly) {
  runs_->after_early = [](int) {
    // So that all outputs but the last have a lead.
    constexpr std::chrono::milliseconds kLead(2);
    for (const auto start = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() < start + kLead;) {
    }
  };
  shard_ = cache_.load(test::make_shard(0, 3, {}, 3), {}).value().shard;
  const Ends ends = start_neighbours(4096);
  const Tensor small = test::filled(1.F);
  const Tensor large = Tensor::allocate(DType::kFloat32, {1, 4096}).value();
  const auto last_of = [&](std::uint64_t number, const Tensor& leading) {
    EXPECT_TRUE(ends.source->send(
        request_message(kHostedPipeline, number, Tuple{{leading, small, small}}), soon()));
    for (;;) {
      auto received = ends.sink->receive(soon());
      if (!received || received->message.kind != MessageKind::kPart) return received;
    }
  };
  EXPECT_EQ(last_of(0, small)->message.kind, MessageKind::kValues);
  const auto failed = last_of(1, large);
  ASSERT_TRUE(failed) << failed.error().message;
  ASSERT_EQ(failed->message.kind, MessageKind::kError);
  EXPECT_EQ(control::error_of(failed->message).code, ErrorCode::kExhausted);
  const auto next = last_of(2, small);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->message.kind, MessageKind::kValues);
}

TEST_F(StageHostTest, WhatAPeerWroteIsToldInPrintableWords) {
  ASSERT_TRUE(host_->open(request()));
  const auto upstream = connect({kHostedPipeline, 0, control::Role::kUpstream}).value();
  const auto sink = connect({kHostedPipeline, 0, control::Role::kSink}).value();
  ASSERT_TRUE(host_->start(kHostedPipeline, 0, soon()));
  wire::Message part = message_of(MessageKind::kPart, kHostedPipeline);
  part.body = std::string(5000, '\xff');
  ASSERT_TRUE(upstream->send(part, soon()));
  EXPECT_FALSE(sink->receive(soon()));
  const control::StageReport status = host_->close(kHostedPipeline, 0).value();
  EXPECT_EQ(status.state, control::StageState::kFailed);
  EXPECT_TRUE(is_printable(status.failure)) << status.failure;
  EXPECT_LE(status.failure.size(), 1000U);
}

TEST_F(StageHostTest, NeighboursDrainOneAfterTheOther) {
  FirstRun first(*runs_);
  const auto [source, sink] = start_neighbours();
  ASSERT_TRUE(source->send(request_message(kHostedPipeline, 0, 1.F), soon()));
  first.wait_until_it_runs();
  std::size_t cut_off = 99;
  std::jthread draining([&] { cut_off = host_->drain(soon()); });
  EXPECT_FALSE(source->receive(soon())) << "its end is announced before it is waited for";
  first.go_on();
  const auto result = sink->receive(soon());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->message.kind, MessageKind::kValues);
  draining.join();
  EXPECT_EQ(cut_off, 0U);
}

TEST_F(StageHostTest, TwoPipelinesShareAShardAndTakeTurns) {
  std::vector<std::jthread> coordinators;
  for (std::uint64_t pipeline = 1; pipeline <= 2; ++pipeline) {
    coordinators.emplace_back([&, pipeline] {
      ASSERT_TRUE(host_->open(request(pipeline)));
      const auto source = connect({pipeline, 0, control::Role::kUpstream}).value();
      const auto sink = connect({pipeline, 0, control::Role::kSink}).value();
      ASSERT_TRUE(host_->start(pipeline, 0, soon()));
      for (int i = 0; i < 30; ++i) {
        ASSERT_TRUE(
            source->send(request_message(pipeline, i, static_cast<float>(pipeline)), soon()));
        const auto result = sink->receive(soon());
        ASSERT_TRUE(result);
        EXPECT_EQ(result->message.pipeline, pipeline);
        EXPECT_EQ(test::first_float(result->message.body), static_cast<float>(pipeline) + 2);
      }
    });
  }
  coordinators.clear();
  EXPECT_EQ(runs_->most_at_once, 1);
  EXPECT_EQ(runs_->runs, 60);
}

TEST_F(StageHostTest, ARequestThatIsTooLateIsDroppedAndCounted) {
  const Ends ends = start_neighbours();
  FirstRun first(*runs_);
  wire::Message ample = request_message(kHostedPipeline, 0, 1.F);
  ample.time_left = std::chrono::hours(1);
  ample.priority = 5;
  ASSERT_TRUE(ends.source->send(ample, soon()));
  first.wait_until_it_runs();
  wire::Message late = request_message(kHostedPipeline, 1, 1.F);
  late.time_left = std::chrono::microseconds(1);
  ASSERT_TRUE(ends.source->send(late, soon()));
  ASSERT_TRUE(ends.source->send(request_message(kHostedPipeline, 2, 1.F), soon()));
  first.go_on();
  const auto one = ends.sink->receive(soon());
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->message.kind, MessageKind::kValues);
  EXPECT_LT(one->message.time_left, std::chrono::hours(1)) << "two stages took of it";
  EXPECT_GT(one->message.time_left, std::chrono::minutes(50));
  EXPECT_EQ(one->message.priority, 5);
  const auto two = ends.sink->receive(soon());
  ASSERT_TRUE(two) << two.error().message;
  ASSERT_EQ(two->message.kind, MessageKind::kError);
  EXPECT_EQ(two->message.request, 1U);
  EXPECT_EQ(control::error_of(two->message).code, ErrorCode::kTimeout);
  EXPECT_THAT(control::error_of(two->message).message,
              HasSubstr("stage 0 on here: its deadline passed"));
  const auto three = ends.sink->receive(soon());
  ASSERT_TRUE(three) << three.error().message;
  EXPECT_EQ(three->message.kind, MessageKind::kValues);
  EXPECT_EQ(three->message.time_left, Nanoseconds(0)) << "it had no deadline";
  std::uint64_t dropped = 0;
  for (const MeterReading& reading : host_->meters().read()) dropped += reading.dropped;
  EXPECT_EQ(dropped, 1U);
}

TEST_F(StageHostTest, AStageThatWaitsForItsTurnIsClosedAtOnce) {
  StageHostOptions options;
  options.device = "here";
  options.rules.cores = 1;
  host_ = StageHost::listen(options, {transport_}, {{"inproc", ""}}).value();
  address_ = host_->addresses().at(0).address;
  const auto other = cache_.load(test::make_shard(0, 3), {}).value().shard;
  FirstRun first(*runs_);
  std::vector<Ends> ends;
  for (const std::uint64_t pipeline : {std::uint64_t{1}, std::uint64_t{2}}) {
    OpenStage stage = request(pipeline);
    if (pipeline == 2) stage.shard = other;
    ASSERT_TRUE(host_->open(stage));
    ends.push_back({connect({pipeline, 0, control::Role::kUpstream}).value(),
                    connect({pipeline, 0, control::Role::kSink}).value()});
    ASSERT_TRUE(host_->start(pipeline, 0, soon()));
    ASSERT_TRUE(ends.back().source->send(request_message(pipeline, 0, 1.F), soon()));
    if (pipeline == 1) first.wait_until_it_runs();
  }
  while (host_->turns().read().waiting == 0) std::this_thread::yield();
  EXPECT_TRUE(host_->close(2, 0));
  EXPECT_EQ(host_->turns().read().waiting, 0U);
  first.go_on();
  const auto result = ends[0].sink->receive(soon());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->message.kind, MessageKind::kValues);
  EXPECT_EQ(runs_->runs, 1);
}

TEST_F(StageHostTest, AStageThatComputesWithoutEndIsClosedWithoutIt) {
  FirstRun first(*runs_);
  ASSERT_TRUE(host_->open(request()));
  const auto source = connect({kHostedPipeline, 0, control::Role::kUpstream}).value();
  const auto sink = connect({kHostedPipeline, 0, control::Role::kSink}).value();
  ASSERT_TRUE(host_->start(kHostedPipeline, 0, soon()));
  ASSERT_TRUE(source->send(request_message(kHostedPipeline, 0, 1.0F), soon()));
  first.wait_until_it_runs();
  const auto closed = host_->close(kHostedPipeline, 0);
  ASSERT_TRUE(closed) << closed.error().message;
  EXPECT_EQ(closed->state, control::StageState::kClosed);
  EXPECT_TRUE(host_->status().empty());
  EXPECT_EQ(sink->receive(soon()).error().code, ErrorCode::kClosed);
  EXPECT_TRUE(host_->open(request())) << "the host goes on";
  first.go_on();
}

TEST_F(StageHostTest, ADrainedHostTakesNothingMore) {
  ASSERT_TRUE(host_->open(request()));
  EXPECT_EQ(host_->drain(soon()), 0U);
  EXPECT_EQ(host_->open(request(8)).error().code, ErrorCode::kClosed);
  EXPECT_FALSE(transport_->connect(address_, soon()));
}

}  // namespace
}  // namespace pareto::daemon
