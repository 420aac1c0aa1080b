// What becomes of a message when a stage computes it.
#include "daemon/stage/stage_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/pause.h"
#include "core/control/hello.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

using test::FakeRuns;
using test::request_message;
using testing::HasSubstr;
using wire::MessageKind;

constexpr std::uint64_t kWorkedPipeline = 7;

class StageWorkTest : public testing::Test {
 protected:
  std::shared_ptr<LoadedShard> shard(std::int64_t operators, std::size_t values = 1,
                                     const runtime::RunnerOptions& options = {}) {
    const plan::Shard shard = test::make_shard(0, operators, {}, values);
    const auto weights = [](const Digest&) -> Expected<Tensor> { return Tensor(); };
    return std::make_shared<LoadedShard>(
        "shard", shard, options, test::fake_runners(runs_)(shard, weights, options).value());
  }

  const std::shared_ptr<FakeRuns> runs_ = std::make_shared<FakeRuns>();
  const std::shared_ptr<StageMeter> meter_ = std::make_shared<StageMeter>();
  const StageContext context_{kWorkedPipeline, 1, "camera", meter_};
  std::vector<wire::Message> parts_;
  const std::unique_ptr<device::DeviceScheduler> turns_ = device::DeviceScheduler::make({}).value();
  StageWork work_{context_,
                  shard(2, 2),
                  {turns_->open(kWorkedPipeline, 1)},
                  [] { return true; },
                  [this](wire::Message part) { parts_.push_back(std::move(part)); }};
};

StageItem request(std::uint64_t number) {
  StageItem item{
      request_message(kWorkedPipeline, number, Tuple{{test::filled(1.F), test::filled(2.F)}})};
  item.queued = std::chrono::steady_clock::now();
  item.message.timeline.emplace_back();
  return item;
}

TEST_F(StageWorkTest, ValuesGoForward) {
  StageItem item = request(0);
  work_.compute(item);
  ASSERT_EQ(item.message.kind, MessageKind::kValues);
  EXPECT_TRUE(bit_equal(item.message.body, Tuple{{test::filled(3.F), test::filled(4.F)}}));
  EXPECT_GT(item.times.compute, Nanoseconds(0));
  EXPECT_GE(item.times.queue, Nanoseconds(0));
  EXPECT_EQ(item.bytes, sizeof(float) * 4 * 2);
  EXPECT_EQ(meter_->compute.read().total(), 1U);
  EXPECT_EQ(meter_->failed, 0U);
}

TEST_F(StageWorkTest, WorkersOfASharedShardCountForTheStageThatRunsIt) {
  runs_->workers = {std::chrono::milliseconds(3), std::chrono::milliseconds(1)};
  runtime::RunnerOptions options;
  options.schedule = "clusters";
  const auto scheduled = shard(2, 2, options);
  work_.change(scheduled);
  ASSERT_TRUE(scheduled->run({Value(test::filled(1.F)), Value(test::filled(1.F))}));
  for (std::uint64_t number = 0; number < 2; ++number) {
    StageItem item = request(number);
    work_.compute(item);
  }
  EXPECT_EQ(scheduled->workers(), 2U);
  EXPECT_EQ(meter_->workers.read(),
            (std::vector<Nanoseconds>{std::chrono::milliseconds(6), std::chrono::milliseconds(2)}))
      << "another pipeline's request is not among them";
}

TEST_F(StageWorkTest, ARequestThatFailsKeepsTheTimesOfTheStagesBefore) {
  runs_->on_run = [](int) -> Expected<> { return fail(ErrorCode::kExhausted, "no memory"); };
  StageItem item = request(3);
  work_.compute(item);
  ASSERT_EQ(item.message.kind, MessageKind::kError);
  EXPECT_EQ(item.message.request, 3U);
  EXPECT_EQ(item.message.timeline.size(), 1U);
  EXPECT_EQ(control::error_of(item.message).message, "stage 1 on camera: no memory");
  EXPECT_EQ(item.bytes, 0U);
  EXPECT_EQ(meter_->failed, 1U);
  EXPECT_EQ(meter_->compute.read().total(), 0U);
}

TEST_F(StageWorkTest, ARequestWithoutItsInputsFails) {
  for (Value body : {Value("no tuple"), Value(Tuple{{test::filled(1.F)}})}) {
    StageItem item{request_message(kWorkedPipeline, 0, std::move(body))};
    work_.compute(item);
    ASSERT_EQ(item.message.kind, MessageKind::kError);
    EXPECT_EQ(control::error_of(item.message).code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(control::error_of(item.message).message, HasSubstr("takes a tuple of 2"));
  }
  EXPECT_EQ(runs_->runs, 0);
}

TEST_F(StageWorkTest, ErrorsAndTheEndPass) {
  for (const MessageKind kind : {MessageKind::kError, MessageKind::kEnd}) {
    StageItem item{test::message_of(kind, kWorkedPipeline)};
    work_.compute(item);
    EXPECT_EQ(item.message.kind, kind);
  }
  EXPECT_EQ(runs_->runs, 0);
}

TEST_F(StageWorkTest, AnotherShardRunsFromTheNextRequestOn) {
  const auto before = work_.shard();
  EXPECT_EQ(work_.change(shard(5, 2)), before);
  StageItem item = request(0);
  work_.compute(item);
  EXPECT_EQ(test::first_float(item.message.body), 1.F + 5);
}

TEST_F(StageWorkTest, ARequestWhoseDeadlineHasPassedIsNotComputed) {
  StageItem item = request(4);
  item.deadline = item.queued - std::chrono::milliseconds(3);
  EXPECT_FALSE(work_.try_turn(item));
  work_.compute(item);
  ASSERT_EQ(item.message.kind, MessageKind::kError);
  const Error error = control::error_of(item.message);
  EXPECT_EQ(error.code, ErrorCode::kTimeout);
  EXPECT_THAT(error.message, HasSubstr("stage 1 on camera: its deadline passed"));
  EXPECT_EQ(item.message.timeline.size(), 1U);
  EXPECT_EQ(meter_->dropped, 1U);
  EXPECT_EQ(meter_->failed, 1U);
  EXPECT_EQ(runs_->runs, 0);
}

TEST_F(StageWorkTest, ARequestWhoseDeadlineIsToComeIsComputed) {
  StageItem item = request(0);
  item.deadline = item.queued + std::chrono::hours(1);
  work_.compute(item);
  EXPECT_EQ(item.message.kind, MessageKind::kValues);
  EXPECT_EQ(meter_->dropped, 0U);
  EXPECT_EQ(meter_->turn_wait.read().total(), 1U);
}

TEST_F(StageWorkTest, ATurnThatWasGivenAtOnceIsTheRequestsOwn) {
  StageItem item = request(0);
  auto turn = work_.try_turn(item);
  ASSERT_TRUE(turn);
  EXPECT_FALSE(work_.try_turn(request(1))) << "the device has one core";
  work_.compute(item, std::move(turn));
  EXPECT_EQ(item.message.kind, MessageKind::kValues);
  EXPECT_TRUE(work_.try_turn(request(1))) << "it is given back";
}

TEST_F(StageWorkTest, NobodyHoldsCoresWhileItWaitsForAShard) {
  const auto other = turns_->open(kWorkedPipeline + 1, 1);
  LoadedShard::Use profile = work_.shard()->use();
  StageItem item = request(0);
  std::jthread computes([&] { work_.compute(item); });
  // It had a turn, and found that its shard is profiled.
  while (turns_->read().busy == Nanoseconds(0)) std::this_thread::yield();
  {
    const auto turn = other->take({.deadline = *deadline_after(test::kPatience)});
    EXPECT_TRUE(turn) << turn.error().message;
    EXPECT_EQ(runs_->runs, 0);
  }
  profile.give_back();
  computes.join();
  EXPECT_EQ(item.message.kind, MessageKind::kValues);
  EXPECT_GT(item.times.queue, Nanoseconds(0));
}

TEST_F(StageWorkTest, ARequestThatWaitsForAShardHasADeadline) {
  LoadedShard::Use profile = work_.shard()->use();
  StageItem item = request(0);
  item.deadline = deadline_after(std::chrono::milliseconds(20));
  work_.compute(item);
  ASSERT_EQ(item.message.kind, MessageKind::kError);
  EXPECT_EQ(control::error_of(item.message).code, ErrorCode::kTimeout);
  EXPECT_EQ(meter_->dropped, 1U);
  EXPECT_EQ(runs_->runs, 0);
}

TEST_F(StageWorkTest, AClosedStageWaitsForNoShard) {
  LoadedShard::Use profile = work_.shard()->use();
  StageItem item = request(0);
  std::jthread computes([&] { work_.compute(item); });
  while (turns_->read().busy == Nanoseconds(0)) std::this_thread::yield();
  work_.close();
  computes.join();
  ASSERT_EQ(item.message.kind, MessageKind::kError);
  EXPECT_EQ(control::error_of(item.message).code, ErrorCode::kClosed);
  EXPECT_EQ(runs_->runs, 0);
}

TEST_F(StageWorkTest, AThreadThatDoesNotWaitGetsNoTurnForAShardInUse) {
  LoadedShard::Use profile = work_.shard()->use();
  std::thread([&] { EXPECT_FALSE(work_.try_turn(request(0))); }).join();
  profile.give_back();
  EXPECT_TRUE(work_.try_turn(request(0))) << "nothing is left of the one that was refused";
}

TEST_F(StageWorkTest, ATrainingPassWaitsForItsShardWithoutCores) {
  const auto other = turns_->open(kWorkedPipeline + 1, 1);
  LoadedShard::Use profile = work_.shard()->use();
  std::jthread trains([&] {
    EXPECT_FALSE(work_.train([](runtime::Trainer&) { return Expected<>(); }))
        << "this one cannot be trained";
  });
  while (turns_->read().busy == Nanoseconds(0)) std::this_thread::yield();
  EXPECT_TRUE(other->take({.deadline = *deadline_after(test::kPatience)}));
  profile.give_back();
}

TEST_F(StageWorkTest, WhatIsPausedWaits) {
  constexpr std::chrono::milliseconds kUrgent(5);
  const auto device = device::DeviceScheduler::make({.cores = 1, .policy = "deadline"}).value();
  StageWork work(
      context_, shard(2, 2), {device->open(kWorkedPipeline, 1)}, [] { return true; },
      [](const wire::Message&) {});
  const auto urgent = device->open(kWorkedPipeline + 1, 1);
  std::atomic<bool> done{false};
  std::jthread comes;
  runs_->on_run = [&](int) -> Expected<> {
    comes = std::jthread([&] {
      const auto turn = urgent->take({.deadline = *deadline_after(std::chrono::hours(1))});
      EXPECT_TRUE(turn);
      for (const auto start = std::chrono::steady_clock::now();
           std::chrono::steady_clock::now() < start + kUrgent;) {
      }
      done = true;
    });
    while (!done) EXPECT_TRUE(pause_if_wanted());
    return {};
  };
  StageItem item = request(0);
  work.compute(item);
  EXPECT_EQ(item.message.kind, MessageKind::kValues);
  EXPECT_GE(item.times.queue, kUrgent) << "the other one computed meanwhile";
  EXPECT_GE(meter_->turn_wait.read().sum, kUrgent);
}

TEST_F(StageWorkTest, AClosedStageComputesNoMore) {
  work_.close();
  StageItem item = request(0);
  work_.compute(item);
  ASSERT_EQ(item.message.kind, MessageKind::kError);
  EXPECT_EQ(control::error_of(item.message).code, ErrorCode::kClosed);
  EXPECT_EQ(meter_->dropped, 0U);
}

TEST_F(StageWorkTest, WhatIsReadyEarlyLeavesAsAPart) {
  runs_->after_early = [](int) {
    constexpr std::chrono::milliseconds kLead(2);
    for (const auto start = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() < start + kLead;) {
    }
  };
  StageItem first = request(0);
  work_.compute(first);
  EXPECT_TRUE(parts_.empty()) << "nothing is known yet of when outputs are ready";
  StageItem second = request(1);
  work_.compute(second);
  ASSERT_EQ(parts_.size(), 1U);
  EXPECT_EQ(parts_[0].kind, MessageKind::kPart);
  EXPECT_EQ(parts_[0].request, 1U);
  EXPECT_EQ(second.message.sequence, 1U) << "the number of its parts";
}

}  // namespace
}  // namespace pareto::daemon
