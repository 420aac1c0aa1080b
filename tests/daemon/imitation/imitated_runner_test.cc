// What a real runner computes, when an imitated device would have it; and the times that it
// reports.
#include "daemon/imitation/imitated_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "daemon/stage/loaded_shard.h"
#include "tests/daemon/support/fake_runner.h"
#include "tests/daemon/support/use_processor.h"

namespace pareto::daemon {
namespace {

using std::chrono::milliseconds;
using test::FakeRuns;
using test::filled;
using test::first_float;
using test::make_shard;
using testing::HasSubstr;

class ImitatedRunnerTest : public testing::Test {
 protected:
  using Runner = std::unique_ptr<runtime::ShardRunner>;

  Expected<Runner> load(const std::shared_ptr<ImitatedDevice>& device,
                        const plan::Shard& shard = make_shard(),
                        const runtime::RunnerOptions& options = {}) {
    return imitate(device, test::fake_runners(runs_))(
        shard, [](const Digest&) -> Expected<Tensor> { return Tensor(); }, options);
  }
  static std::shared_ptr<ImitatedDevice> slow(double speed) {
    return std::make_shared<ImitatedDevice>(speed);
  }
  std::shared_ptr<ImitatedDevice> steady(double speed = 0.5) {
    return std::make_shared<ImitatedDevice>(speed, paces_);
  }
  /// Runs the shard on one tensor, and returns how long that took.
  static Nanoseconds time_of(runtime::ShardRunner& runner) {
    const TimePoint begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(runner.run({Value(filled(1))}));
    return std::chrono::steady_clock::now() - begin;
  }
  /// Makes runs take some processor time, and say how much the last one did.
  void compute(Nanoseconds& used) {
    runs_->on_run = [&used](int) -> Expected<> {
      used = test::use_processor();
      return {};
    };
  }

  const std::shared_ptr<FakeRuns> runs_ = std::make_shared<FakeRuns>();
  const TemporaryFolder folder_ = TemporaryFolder::create("imitated-runner-test").value();
  const std::shared_ptr<OperatorPaces> paces_ =
      OperatorPaces::open(folder_.path() / "times").value();
};

TEST_F(ImitatedRunnerTest, GivesWhatTheRealOneComputesSoMuchLater) {
  Nanoseconds cpu{};
  compute(cpu);
  const Runner runner = load(slow(0.25)).value();
  const TimePoint begin = std::chrono::steady_clock::now();
  const auto outputs = runner->run({Value(filled(1))});
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 4 * cpu);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(first_float(outputs->at(0)), 1.F + 2);
  EXPECT_EQ(runner->report().engine, "plain") << "as the real one says";
}

TEST_F(ImitatedRunnerTest, ItsWorkersWaitAsItDoes) {
  Nanoseconds cpu{};
  compute(cpu);
  runs_->workers = {milliseconds(3), milliseconds(1)};
  runtime::RunnerOptions options;
  options.schedule = "clusters";
  const Runner runner = load(slow(0.25), make_shard(), options).value();
  EXPECT_EQ(runner->worker_times(), std::vector<Nanoseconds>(2)) << "known before the first run";
  time_of(*runner);
  const std::vector<Nanoseconds> times = runner->worker_times();
  ASSERT_EQ(times.size(), 2U);
  EXPECT_GE(times[0], milliseconds(3));
  EXPECT_NEAR(to_seconds(times[0]), 3 * to_seconds(times[1]), 1e-6);
  EXPECT_TRUE(load(slow(0.25)).value()->worker_times().empty()) << "it has no schedule";
}

TEST_F(ImitatedRunnerTest, SaysWhatPartsTakeThere) {
  const auto profile = load(slow(0.25)).value()->profile({Value(filled(1))}, 5, {1}).value();
  EXPECT_EQ(profile.operators.at(0).median, Nanoseconds(4 * 5));
  EXPECT_EQ(profile.segments.at(0).median, Nanoseconds(4 * 5));
}

TEST_F(ImitatedRunnerTest, ARunThatFailsIsNotWaitedFor) {
  runs_->on_run = [](int) -> Expected<> {
    test::use_processor();
    return fail(ErrorCode::kExhausted, "no memory");
  };
  // At this speed two milliseconds are half an hour.
  const auto failed = load(slow(1e-6)).value()->run({Value(filled(1))});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no memory");
}

TEST_F(ImitatedRunnerTest, SteadyItTakesWhatItsOperatorsTookFirst) {
  runs_->operator_time = milliseconds(1);
  const Runner runner = load(steady()).value();
  // Repeated fifteen times its operator says 15 ms: twice that at half the speed.
  EXPECT_GE(time_of(*runner), milliseconds(30));
  runs_->operator_time = milliseconds(100);
  EXPECT_EQ(runner->profile({Value(filled(1))}, 5, {1}).value().operators.at(0).median,
            milliseconds(30));
  const Runner other = load(steady(), make_shard(0, 3)).value();
  EXPECT_EQ(other->profile({Value(filled(1))}, 5, {1}).value().segments.at(0).median,
            milliseconds(30));
}

TEST_F(ImitatedRunnerTest, AShardThatComesBackKeepsItsPace) {
  runs_->operator_time = milliseconds(1);
  const auto device = steady();
  ASSERT_TRUE(load(device));
  const int profiles = runs_->profiles;
  const Runner again = load(device).value();
  EXPECT_EQ(runs_->loads, 2);
  EXPECT_EQ(runs_->profiles, profiles) << "what its operators take is known";
  EXPECT_GE(time_of(*again), milliseconds(30));
}

TEST_F(ImitatedRunnerTest, AShardThatRunsOnNoExampleIsAsFastAsItIsHere) {
  Nanoseconds cpu{};
  compute(cpu);
  plan::Shard shard = make_shard();
  // More than any machine has.
  shard.inputs[0].spec.tensor.dims = {{INT64_MAX / 2, 0}};
  const auto runner = load(steady(0.25), shard);
  ASSERT_TRUE(runner) << runner.error().message;
  EXPECT_EQ(runs_->profiles, 0);
  EXPECT_GE(time_of(**runner), 4 * cpu);
}

TEST_F(ImitatedRunnerTest, WhatCannotBeKeptFailsTheLoad) {
  std::filesystem::remove(folder_.path() / "times");
  std::filesystem::create_directory(folder_.path() / "times");
  const auto refused = load(steady());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("times"));
}

TEST_F(ImitatedRunnerTest, WhatIsMadeEarlyIsNotMadeEarlierThanThere) {
  Nanoseconds cpu{};
  compute(cpu);
  struct Taker final : runtime::EarlyOutputs {
    bool wants(std::size_t) override {
      asked = std::chrono::steady_clock::now();
      return true;
    }
    void take(std::size_t, Value value) override { taken = std::move(value); }
    TimePoint asked{};
    Value taken;
  } taker;
  runs_->after_early = [](int) {};
  const Runner runner = load(slow(0.25), make_shard(0, 2, {}, 2)).value();
  const TimePoint begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(runner->run_early({Value(filled(1)), Value(filled(2))}, taker));
  EXPECT_GE(taker.asked - begin, 4 * cpu) << "what is worth sending ahead is decided there";
  EXPECT_EQ(first_float(taker.taken), 1.F + 2);
}

TEST_F(ImitatedRunnerTest, AWaitIsStoppedAsALoopOfTheShardIs) {
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  runtime::RunnerOptions options;
  options.stop = stop;
  std::promise<void> computed;
  runs_->on_run = [&](int) -> Expected<> {
    test::use_processor();
    computed.set_value();
    return {};
  };
  const Runner runner = load(slow(1e-6), make_shard(), options).value();
  auto running = std::async(std::launch::async, [&] { return runner->run({Value(filled(1))}); });
  computed.get_future().wait();
  *stop = true;
  const auto stopped = running.get();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kClosed);
}

TEST_F(ImitatedRunnerTest, ARequestThatTakesTooLongThereIsStoppedAtItsLimit) {
  WorkLimits limits;
  limits.request = milliseconds(20);
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  runtime::RunnerOptions options;
  options.stop = stop;
  runs_->on_run = [](int run) -> Expected<> {
    if (run == 0) test::use_processor();
    return {};
  };
  LoadedShard shard("slow", make_shard(), options, load(slow(1e-6), make_shard(), options).value(),
                    std::make_shared<WorkWatch>(limits), stop);
  const auto stopped = shard.run({Value(filled(1))});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(stopped.error().message, HasSubstr("--request-timeout"));
}

}  // namespace
}  // namespace pareto::daemon
