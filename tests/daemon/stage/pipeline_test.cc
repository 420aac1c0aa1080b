// Two stages on two hosts, over every transport: what a coordinator sees of them.
#include "tests/daemon/support/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "core/base/log.h"
#include "core/transport/prime.h"
#include "core/wire/parts.h"
#include "tests/daemon/support/fake_runner.h"

namespace pareto::daemon {
namespace {

using test::FakeRuns;
using test::first_float;
using test::FirstRun;
using test::message_of;
using test::request_message;
using test::soon;
using test::TwoStages;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;
using wire::MessageKind;

/// A stage that got the end may hang up before this side's send has returned.
void say_end(TwoStages& pipeline) {
  static_cast<void>(
      pipeline.source->send(message_of(MessageKind::kEnd, TwoStages::kPipeline), soon()));
}

class Pipeline : public testing::TestWithParam<std::string> {
 protected:
  Pipeline()
      : transport_(transport::make_transport(GetParam()).value()),
        cache_(
            test::fake_runners(runs_), [](const Digest&) -> Expected<Tensor> { return Tensor(); },
            0) {}

  std::unique_ptr<TwoStages> open(std::uint32_t queue = 4) {
    const std::string address =
        transport_->reach() == transport::Reach::kNetwork ? "127.0.0.1:0" : "";
    auto opened = TwoStages::open(transport_, address, shard(2), shard(3), queue);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }
  std::shared_ptr<LoadedShard> shard(std::int64_t operators) {
    runtime::RunnerOptions options;
    options.threads = threads_;
    return cache_.load(test::make_shard(0, operators, {}, values_), options).value().shard;
  }

  int threads_ = 1;
  std::size_t values_ = 1;

  std::shared_ptr<FakeRuns> runs_ = std::make_shared<FakeRuns>();
  std::shared_ptr<transport::Transport> transport_;
  ShardCache cache_;
};

TEST_P(Pipeline, ValuesFlowInOrderWithATimeline) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  EXPECT_GT(pipeline->round_trip, Nanoseconds(0));
  constexpr int kRequests = 50;
  const std::jthread source([&] {
    for (int i = 0; i < kRequests; ++i) {
      ASSERT_TRUE(pipeline->source->send(
          request_message(TwoStages::kPipeline, i, static_cast<float>(i)), soon()));
    }
  });
  for (int i = 0; i < kRequests; ++i) {
    const auto result = pipeline->sink->receive(soon());
    ASSERT_TRUE(result) << result.error().message;
    const wire::Message& message = result->message;
    ASSERT_EQ(message.kind, MessageKind::kValues);
    EXPECT_EQ(message.request, static_cast<std::uint64_t>(i));
    EXPECT_EQ(first_float(message.body), static_cast<float>(i + 2 + 3));
    ASSERT_EQ(message.timeline.size(), 2U);
    for (std::uint32_t s = 0; s < 2; ++s) {
      EXPECT_EQ(message.timeline[s].stage, s);
      EXPECT_GT(message.timeline[s].compute, Nanoseconds(0));
      EXPECT_GE(message.timeline[s].queue, Nanoseconds(0));
      EXPECT_GE(message.timeline[s].receive, Nanoseconds(0));
      EXPECT_GT(message.timeline[s].compute_cpu, Nanoseconds(0));
      // Those of the message before.
      if (i > 0) {
        EXPECT_GT(message.timeline[s].send, Nanoseconds(0));
        EXPECT_GT(message.timeline[s].send_cpu, Nanoseconds(0));
      }
    }
    // Here both stages are on one clock.
    const auto& [first, second] = std::tie(message.timeline[0], message.timeline[1]);
    EXPECT_GE(second.arrived,
              first.arrived + first.receive + first.decode + first.queue + first.compute);
    EXPECT_LE(second.arrived + second.receive + second.decode + second.queue + second.compute,
              std::chrono::steady_clock::now().time_since_epoch());
  }
  const control::StageReport status = pipeline->hosts[0]->status().at(0);
  EXPECT_EQ(status.state, control::StageState::kRunning);
  EXPECT_EQ(status.requests, static_cast<std::uint64_t>(kRequests));
  EXPECT_EQ(status.failed_requests, 0U);
  EXPECT_GT(status.bytes_received, kRequests * 16U);
  EXPECT_GT(status.bytes_sent, kRequests * 16U);
}

TEST_P(Pipeline, AnEngineOfSeveralThreadsIsRunByOneThread) {
  threads_ = 2;
  std::mutex mutex;
  std::set<std::thread::id> runners;
  runs_->on_run = [&](int) {
    const std::lock_guard lock(mutex);
    runners.insert(std::this_thread::get_id());
    return Expected<>();
  };
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  // Both to idle stages and one behind the other.
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 2; ++j) {
      ASSERT_TRUE(
          pipeline->source->send(request_message(TwoStages::kPipeline, 2 * i + j, 1.F), soon()));
    }
    for (int j = 0; j < 2; ++j) ASSERT_TRUE(pipeline->sink->receive(soon()));
  }
  EXPECT_EQ(runners.size(), 2U);  // one a stage
}

TEST_P(Pipeline, AnEarlyOutputIsOnItsWayWhileTheShardStillRuns) {
  values_ = 2;
  std::promise<void> seen;
  runs_->after_early = [&](int run) {
    // Two stages: the first request tells them that output 0 has a lead; in the second, the last
    // stage ends only once it was seen.
    constexpr std::chrono::milliseconds kLead(2);
    if (run == 3) seen.get_future().wait();
    for (const auto start = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() < start + kLead;) {
    }
  };
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  const auto send = [&](std::uint64_t request) {
    return pipeline->source->send(request_message(TwoStages::kPipeline, request,
                                                  Tuple{{test::filled(10.F), test::filled(20.F)}}),
                                  soon());
  };
  ASSERT_TRUE(send(0));
  const auto first = pipeline->sink->receive(soon());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->message.kind, MessageKind::kValues);
  ASSERT_TRUE(send(1));
  const auto part = pipeline->sink->receive(soon());
  seen.set_value();
  ASSERT_TRUE(part) << part.error().message;
  ASSERT_EQ(part->message.kind, MessageKind::kPart);
  const auto rest = pipeline->sink->receive(soon());
  ASSERT_TRUE(rest) << rest.error().message;
  ASSERT_EQ(rest->message.kind, MessageKind::kValues);

  wire::PartAssembler assembler(2);
  ASSERT_TRUE(assembler.keep(part->message));
  wire::Message whole = rest->message;
  ASSERT_TRUE(assembler.complete(whole));
  // What crossed between the stages in parts was put together again.
  EXPECT_TRUE(bit_equal(whole.body, Tuple{{test::filled(15.F), test::filled(25.F)}}));
  EXPECT_TRUE(bit_equal(first->message.body, whole.body));
  const control::StageReport status = pipeline->hosts[1]->status().at(0);
  EXPECT_EQ(status.requests, 2U);
}

TEST_P(Pipeline, AStageRunsAnotherShardFromTheNextRequestOn) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  const auto answer = [&](std::uint64_t request) {
    EXPECT_TRUE(
        pipeline->source->send(request_message(TwoStages::kPipeline, request, 1.F), soon()));
    return first_float(pipeline->sink->receive(soon()).value().message.body);
  };
  EXPECT_EQ(answer(0), 1.F + 2 + 3);
  for (std::uint32_t stage : {0U, 1U}) {
    const auto before = pipeline->hosts[stage]->change_shard(TwoStages::kPipeline, stage, shard(7));
    ASSERT_TRUE(before) << before.error().message;
    EXPECT_EQ(before->requests, 1U);
    EXPECT_EQ(pipeline->hosts[stage]->status().at(0).shard, shard(7)->handle());
  }
  EXPECT_EQ(answer(1), 1.F + 7 + 7);
}

TEST_P(Pipeline, PingsAreAnsweredOnBothLinks) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  for (transport::Link* link : {pipeline->source.get(), pipeline->sink.get()}) {
    EXPECT_TRUE(
        transport::prime(*link, TwoStages::kPipeline, 3 << 20, transport::PingWay::kBack, soon()));
  }
}

TEST_P(Pipeline, PaddingIsDropped) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  auto padding = message_of(MessageKind::kPong, TwoStages::kPipeline);
  padding.body = transport::incompressible(100'000).value();
  ASSERT_TRUE(pipeline->source->send(padding, soon()));
  ASSERT_TRUE(pipeline->source->send(request_message(TwoStages::kPipeline, 0, 1.0F), soon()));
  const auto result = pipeline->sink->receive(soon());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->message.kind, MessageKind::kValues);
  EXPECT_EQ(pipeline->hosts[0]->status().at(0).requests, 1U);
}

TEST_P(Pipeline, AFailedRequestReachesTheSinkAndTheNextOnesPass) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  runs_->on_run = [](int run) -> Expected<> {
    if (run == 0) return fail(ErrorCode::kExhausted, "no memory");
    return {};
  };
  for (int i = 0; i < 3; ++i) {
    auto message = request_message(TwoStages::kPipeline, i, 1.F);
    if (i == 1) message.body = "no tuple";
    ASSERT_TRUE(pipeline->source->send(message, soon()));
  }
  const auto first = pipeline->sink->receive(soon());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->message.kind, MessageKind::kError);
  EXPECT_EQ(control::error_of(first->message).code, ErrorCode::kExhausted);
  EXPECT_EQ(control::error_of(first->message).message, "stage 0 on first: no memory");
  const auto second = pipeline->sink->receive(soon());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->message.request, 1U);
  EXPECT_EQ(control::error_of(second->message).code, ErrorCode::kInvalidArgument);
  const auto third = pipeline->sink->receive(soon());
  ASSERT_TRUE(third);
  EXPECT_EQ(third->message.kind, MessageKind::kValues);
  EXPECT_EQ(pipeline->hosts[0]->status().at(0).failed_requests, 2U);
  EXPECT_EQ(pipeline->hosts[1]->status().at(0).failed_requests, 0U);
}

TEST_P(Pipeline, EndDrainsEverything) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pipeline->source->send(request_message(TwoStages::kPipeline, i, 1.F), soon()));
  }
  say_end(*pipeline);
  for (int i = 0; i < 3; ++i) {
    const auto result = pipeline->sink->receive(soon());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->message.kind, MessageKind::kValues);
  }
  const auto end = pipeline->sink->receive(soon());
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->message.kind, MessageKind::kEnd);
  EXPECT_EQ(pipeline->sink->receive(soon()).error().code, ErrorCode::kClosed);
  for (std::uint32_t s = 0; s < 2; ++s) {
    const auto status = pipeline->hosts[s]->close(TwoStages::kPipeline, s);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->state, control::StageState::kClosed) << status->failure;
  }
}

TEST_P(Pipeline, ASourceThatVanishesFailsBothStages) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  pipeline->source.reset();
  // The news travels down the pipeline.
  EXPECT_FALSE(pipeline->sink->receive(soon()));
  const auto status = pipeline->hosts[0]->close(TwoStages::kPipeline, 0);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->state, control::StageState::kFailed);
  EXPECT_THAT(status->failure, HasSubstr("upstream link"));
}

TEST_P(Pipeline, AFailureIsLoggedUnderItsPipelineAndStage) {
  std::mutex mutex;
  std::vector<std::string> lines;
  ASSERT_TRUE(set_up_logging("test", "warn", [&](const LogLine& line) {
    std::string text;
    for (const LogField& field : line.fields)
      text += fmt::format("{}={} ", field.name, field.value);
    const std::lock_guard lock(mutex);
    lines.push_back(text.append(line.text));
  }));
  auto pipeline = open();
  if (pipeline) {
    pipeline->source.reset();
    EXPECT_FALSE(pipeline->sink->receive(soon()));
  }
  // Then no thread of theirs logs any more.
  pipeline.reset();
  ASSERT_TRUE(set_up_logging("test", "warn"));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("PARETO_PIPELINE=fedcba9876543210 PARETO_STAGE=0 "),
                                    HasSubstr("failed: upstream link"))));
}

TEST_P(Pipeline, ADeadStageIsNoticedOnBothSides) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  pipeline->hosts[1].reset();
  EXPECT_FALSE(pipeline->sink->receive(soon()));
  EXPECT_FALSE(pipeline->source->receive(soon()));
  EXPECT_EQ(pipeline->hosts[0]->status().at(0).state, control::StageState::kFailed);
  EXPECT_THAT(pipeline->hosts[0]->status().at(0).failure, HasSubstr("downstream link"));
}

TEST_P(Pipeline, AnIdleSinkMayLeave) {
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  say_end(*pipeline);
  pipeline->source.reset();
  pipeline->sink.reset();
  for (std::uint32_t s = 0; s < 2; ++s) {
    const auto status = pipeline->hosts[s]->close(TwoStages::kPipeline, s);
    ASSERT_TRUE(status);
    EXPECT_NE(status->state, control::StageState::kFailed) << status->failure;
  }
}

TEST_P(Pipeline, DrainingAHostFinishesWhatItHas) {
  FirstRun first(*runs_);
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(pipeline->source->send(request_message(TwoStages::kPipeline, i, 1.F), soon()));
  }
  first.wait_until_it_runs();
  std::size_t cut_off = 99;
  std::jthread draining([&] { cut_off = pipeline->hosts[0]->drain(soon()); });
  // Its end is announced to the source before anything waits for the request that is being
  // computed.
  EXPECT_FALSE(pipeline->source->receive(soon()));
  first.go_on();
  const auto result = pipeline->sink->receive(soon());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->message.request, 0U);
  draining.join();
  EXPECT_EQ(cut_off, 0U);
}

TEST_P(Pipeline, ADrainThatTakesTooLongIsCutOff) {
  FirstRun first(*runs_);
  const auto pipeline = open();
  ASSERT_TRUE(pipeline);
  ASSERT_TRUE(pipeline->source->send(request_message(TwoStages::kPipeline, 0, 1.F), soon()));
  first.wait_until_it_runs();
  std::jthread draining(
      [&] { EXPECT_EQ(pipeline->hosts[0]->drain(std::chrono::steady_clock::now()), 1U); });
  // Cut off, its links are closed although it still computes.
  EXPECT_FALSE(pipeline->sink->receive(soon()));
  first.go_on();
}

TEST_P(Pipeline, AFullPipelineHoldsTheSourceBack) {
  const auto pipeline = open(1);
  ASSERT_TRUE(pipeline);
  std::promise<void> go_on;
  const auto gate = go_on.get_future().share();
  runs_->on_run = [gate](int) {
    gate.wait();
    return Expected<>();
  };
  // Tensors of 4 MiB: no socket buffer takes many of them.
  const Tensor large = Tensor::allocate(DType::kFloat32, {1, 1 << 20}).value();
  int sent = 0;
  auto last = Expected<transport::Sent>();
  while (sent < 100 && last) {
    last = pipeline->source->send(request_message(TwoStages::kPipeline, sent, Tuple{{large}}),
                                  deadline_after(std::chrono::milliseconds(1500)));
    if (last) ++sent;
  }
  EXPECT_FALSE(last);
  EXPECT_EQ(last.error().code, ErrorCode::kTimeout);
  EXPECT_GE(sent, 2);
  EXPECT_LT(sent, 20);
  go_on.set_value();
}

INSTANTIATE_TEST_SUITE_P(Over, Pipeline, testing::Values("inproc", "tcp", "grpc"),
                         [](const auto& over) { return over.param; });

}  // namespace
}  // namespace pareto::daemon
