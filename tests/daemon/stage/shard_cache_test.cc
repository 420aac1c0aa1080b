// Shards shared, counted, and refused before they fill the memory.
#include "daemon/stage/shard_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <thread>

#include "tests/daemon/support/fake_runner.h"

namespace pareto::daemon {
namespace {

using test::FakeRuns;
using test::filled;
using test::first_float;
using test::make_shard;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

class ShardCacheTest : public testing::Test {
 protected:
  ShardCache make_cache(std::uint64_t limit = 0, const WorkLimits& limits = {}) {
    return ShardCache(
        test::fake_runners(runs_),
        [](const Digest& digest) -> Expected<Tensor> {
          if (digest == sha256("weight")) return Tensor();
          return fail(ErrorCode::kNotFound, "no tensor {}", digest.hex());
        },
        limit, [this] { return memory_; }, std::make_shared<WorkWatch>(limits));
  }
  /// Returns ten MiB of weights.
  static plan::Shard heavy_shard(std::int64_t end = 2) {
    return make_shard(0, end,
                      {{"fc.weight", sha256("weight"), DType::kFloat32, {10, 1 << 18}, true}});
  }

  std::shared_ptr<FakeRuns> runs_ = std::make_shared<FakeRuns>();
  MemoryReading memory_{100 * kMiB, 100 * kMiB, 1000 * kMiB, 4000 * kMiB};
};

TEST_F(ShardCacheTest, TheSameShardWithTheSameSettingsIsLoadedOnce) {
  ShardCache cache = make_cache();
  const auto first = cache.load(make_shard(), {}).value();
  const auto second = cache.load(make_shard(), {}).value();
  EXPECT_FALSE(first.was_loaded);
  EXPECT_TRUE(second.was_loaded);
  EXPECT_EQ(first.shard, second.shard);
  EXPECT_EQ(runs_->loads, 1);
  EXPECT_EQ(cache.entries().at(0).users, 2U);
}

TEST_F(ShardCacheTest, ALoadThatTakesLongKeepsTheOthersWaitingForATurnOnly) {
  WorkLimits limits;
  limits.turn = std::chrono::milliseconds(20);
  ShardCache cache = make_cache(0, limits);
  std::promise<void> loading;
  std::promise<void> go_on;
  std::atomic<int> loads{0};
  runs_->on_load = [&]() -> Expected<> {
    if (loads++ == 0) {
      loading.set_value();
      go_on.get_future().wait();
    }
    return {};
  };
  auto endless = std::async(std::launch::async, [&] { return cache.load(make_shard(0, 9), {}); });
  loading.get_future().wait();
  EXPECT_TRUE(cache.load(make_shard(), {}));
  EXPECT_TRUE(cache.load(make_shard(0, 3), {}));
  // The same shard, which the first is still loading: there is one of it in the end.
  const auto same = cache.load(make_shard(0, 9), {});
  ASSERT_TRUE(same);
  go_on.set_value();
  const auto late = endless.get();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->shard, same->shard);
  EXPECT_EQ(cache.entries().size(), 3U);
}

TEST_F(ShardCacheTest, ALoadIsStoppedAtItsDeadline) {
  ShardCache cache = make_cache();
  // As a loop of the shard does: it goes on until it is told to stop.
  runs_->on_load_with = [](const runtime::RunnerOptions& options) {
    while (!*options.stop) std::this_thread::yield();
    return fail(ErrorCode::kInternal, "stopped in the middle");
  };
  const auto loaded = cache.load(make_shard(), {}, deadline_after(std::chrono::milliseconds(20)));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(loaded.error().message, HasSubstr("--load-timeout"));
  EXPECT_TRUE(cache.entries().empty());
}

TEST_F(ShardCacheTest, WaitingForOtherLoadsEndsNothing) {
  ShardCache cache = make_cache();
  std::promise<void> waits;
  std::promise<void> goes_on;
  runs_->on_load_with = [&](const runtime::RunnerOptions&) -> Expected<> {
    waits.set_value();
    goes_on.get_future().wait();
    return {};
  };
  auto slow = std::async(std::launch::async, [&] { return cache.load(make_shard(), {}); });
  waits.get_future().wait();
  const runtime::RunnerOptions other{.threads = 2};
  const TimePoint deadline = *deadline_after(std::chrono::milliseconds(5));
  auto hurried =
      std::async(std::launch::async, [&] { return cache.load(make_shard(), other, deadline); });
  while (std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  goes_on.set_value();
  EXPECT_TRUE(slow.get());
  const auto loaded = hurried.get();
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("waited for other loads"));
}

TEST_F(ShardCacheTest, ARequestIsStoppedAtItsLimitAndTheNextOneRuns) {
  WorkLimits limits;
  limits.request = std::chrono::milliseconds(20);
  ShardCache cache = make_cache(0, limits);
  std::shared_ptr<const std::atomic<bool>> stop;
  runs_->on_load_with = [&](const runtime::RunnerOptions& options) {
    stop = options.stop;
    return Expected<>();
  };
  const auto shard = cache.load(make_shard(), {}).value().shard;
  runs_->on_run = [&](int run) -> Expected<> {
    if (run > 0) return {};
    while (!*stop) std::this_thread::yield();
    return fail(ErrorCode::kInternal, "stopped in the middle");
  };
  const auto stopped = shard->run({filled(1)});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(stopped.error().message, HasSubstr("--request-timeout"));
  EXPECT_TRUE(shard->run({filled(1)}));
}

TEST_F(ShardCacheTest, OtherSettingsAndOtherShardsAreLoadedApart) {
  ShardCache cache = make_cache();
  runtime::RunnerOptions two_threads;
  two_threads.threads = 2;
  runtime::RunnerOptions bf16;
  bf16.precision = runtime::Precision::kBFloat16;
  const auto a = cache.load(make_shard(), {}).value().shard;
  const auto b = cache.load(make_shard(), two_threads).value().shard;
  const auto c = cache.load(make_shard(), bf16).value().shard;
  const auto d = cache.load(make_shard(0, 3), {}).value().shard;
  EXPECT_EQ(runs_->loads, 4);
  EXPECT_NE(a->handle(), b->handle());
  EXPECT_EQ(cache.find(c->handle()).value(), c);
  EXPECT_EQ(d->shard().archive, "");
}

TEST_F(ShardCacheTest, AHandleOfADaemonThatRanBeforeIsNoneOfThisOne) {
  ShardCache before = make_cache();
  ShardCache after = make_cache();
  const std::string handle = before.load(make_shard(), {}).value().shard->handle();
  ASSERT_TRUE(after.load(make_shard(), {}));
  EXPECT_EQ(after.find(handle).error().code, ErrorCode::kNotFound);
}

TEST_F(ShardCacheTest, EachLoadWantsOneUnload) {
  ShardCache cache = make_cache();
  const std::string handle = cache.load(make_shard(), {}).value().shard->handle();
  ASSERT_TRUE(cache.load(make_shard(), {}));
  ASSERT_TRUE(cache.unload(handle));
  EXPECT_TRUE(cache.find(handle));
  ASSERT_TRUE(cache.unload(handle));
  EXPECT_EQ(cache.find(handle).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(cache.unload(handle).error().code, ErrorCode::kNotFound);
}

TEST_F(ShardCacheTest, AShardThatComesBackKeepsItsEngine) {
  ShardCache cache = make_cache();
  for (const std::int64_t end : {2, 2, 3}) {
    const auto loaded = cache.load(make_shard(0, end), {}).value().shard;
    EXPECT_EQ(loaded->options().engine, "auto") << "as it was asked for";
    ASSERT_TRUE(cache.unload(loaded->handle()));
  }
  EXPECT_THAT(runs_->engines, ElementsAre("auto", "plain", "auto"));
}

TEST_F(ShardCacheTest, AShardThatComesBackKeepsItsPrecisionAndWhy) {
  ShardCache cache = make_cache();
  runtime::RunnerOptions bf16;
  bf16.precision = runtime::Precision::kBFloat16;
  for (int i = 0; i < 2; ++i) {
    const auto loaded = cache.load(make_shard(), bf16).value().shard;
    EXPECT_EQ(loaded->report().precision, runtime::Precision::kFloat32);
    EXPECT_EQ(loaded->report().precision_reason, "it only computes in fp32");
    ASSERT_TRUE(cache.unload(loaded->handle()));
  }
  EXPECT_THAT(runs_->precisions,
              ElementsAre(runtime::Precision::kBFloat16, runtime::Precision::kFloat32));
}

TEST_F(ShardCacheTest, AShardThatComesBackKeepsItsScheduleAndWhy) {
  ShardCache cache = make_cache();
  runtime::RunnerOptions options;
  options.schedule = "auto";
  for (int i = 0; i < 2; ++i) {
    const auto loaded = cache.load(make_shard(), options).value().shard;
    EXPECT_EQ(loaded->report().schedule, "mixed");
    EXPECT_EQ(loaded->report().schedule_reason, "the fastest of 2");
    ASSERT_TRUE(cache.unload(loaded->handle()));
  }
  EXPECT_THAT(runs_->schedules, ElementsAre("auto", "mixed"));
}

TEST_F(ShardCacheTest, AProgramIsLoadedAgainAsItWasAskedFor) {
  ShardCache cache = make_cache();
  runtime::RunnerOptions options;
  std::vector<std::string> asked;
  for (const char* const program : {R"({"units":[]})", R"({"units":[],"order":[]})"}) {
    options.schedule = program;
    for (int i = 0; i < 2; ++i) {
      asked.emplace_back(program);
      const auto loaded = cache.load(make_shard(), options).value();
      EXPECT_FALSE(loaded.was_loaded);
      ASSERT_TRUE(cache.unload(loaded.shard->handle()));
    }
  }
  EXPECT_EQ(runs_->schedules, asked);
}

TEST_F(ShardCacheTest, WhatLostEachTimeIsNotTriedAgain) {
  ShardCache cache = make_cache();
  std::vector<bool> skipped;
  for (const std::int64_t end : {100, 101, 102, 103, 104}) {
    ASSERT_TRUE(cache.load(make_shard(0, end), {}));
    skipped.push_back(runs_->skips_slow);
  }
  EXPECT_THAT(skipped, ElementsAre(false, false, false, false, true));
}

TEST_F(ShardCacheTest, TheMemoryLimitIsCheckedBeforeLoading) {
  ShardCache cache = make_cache(15 * kMiB);
  const auto refused = cache.load(heavy_shard(), {});
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("20.0 MiB of memory (10.0 MiB of weights)"));
  EXPECT_THAT(refused.error().message, HasSubstr("memory limit is 15.0 MiB and 15.0 MiB"));
  EXPECT_EQ(runs_->loads, 0);
  cache.set_memory_limit(25 * kMiB);
  EXPECT_TRUE(cache.load(heavy_shard(), {}));
}

TEST_F(ShardCacheTest, MemoryIsFreeAgainWhenTheLastHolderIsGone) {
  ShardCache cache = make_cache(25 * kMiB);
  auto held = cache.load(heavy_shard(2), {}).value().shard;
  EXPECT_EQ(cache.load(heavy_shard(3), {}).error().code, ErrorCode::kExhausted);
  ASSERT_TRUE(cache.unload(held->handle()));
  EXPECT_EQ(cache.load(heavy_shard(3), {}).error().code, ErrorCode::kExhausted);
  held.reset();
  EXPECT_TRUE(cache.load(heavy_shard(3), {}));
}

TEST_F(ShardCacheTest, WithoutALimitTheMachineIsOne) {
  ShardCache cache = make_cache();
  memory_.total_bytes = 1600 * kMiB;
  memory_.available_bytes = 119 * kMiB;
  const auto refused = cache.load(heavy_shard(), {});
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message,
              HasSubstr("119 MiB of it are free, 100 MiB of which are left to others"));
  memory_.available_bytes = 0;  // unknown
  EXPECT_TRUE(cache.load(heavy_shard(), {}));
}

TEST_F(ShardCacheTest, SaysWhatLoadingTook) {
  ShardCache cache = make_cache();
  runs_->on_load = [this] {
    memory_.resident_bytes += 7 * kMiB;
    return Expected<>();
  };
  EXPECT_EQ(cache.load(make_shard(), {}).value().shard->memory_bytes(), 7 * kMiB);
}

TEST_F(ShardCacheTest, LoadingTakesWhatIsUsedAgainToo) {
  ShardCache cache = make_cache();
  memory_.allocated_bytes = 60 * kMiB;
  runs_->on_load = [this] {
    memory_.allocated_bytes += 30 * kMiB;  // within what is resident
    return Expected<>();
  };
  EXPECT_EQ(cache.load(make_shard(), {}).value().shard->memory_bytes(), 30 * kMiB);
}

TEST_F(ShardCacheTest, OfTheLimitAShardTakesWhatStaysOfIt) {
  ShardCache cache = make_cache(35 * kMiB);
  memory_.allocated_bytes = 60 * kMiB;
  runs_->on_load = [this] {
    memory_.allocated_bytes += 12 * kMiB;
    return Expected<>();
  };
  ASSERT_TRUE(cache.load(heavy_shard(2), {})) << "20 MiB are needed, 12 stay";
  ASSERT_TRUE(cache.load(heavy_shard(3), {}));
  EXPECT_THAT(cache.load(heavy_shard(4), {}).error().message, HasSubstr("11.0 MiB of it are free"));
}

TEST_F(ShardCacheTest, WhatShardsShareCountsOnce) {
  ShardCache cache = make_cache(45 * kMiB);
  memory_.allocated_bytes = 60 * kMiB;
  runs_->packed_bytes = 12 * kMiB;
  runs_->on_load = [this] {
    // The first one packs them all.
    memory_.allocated_bytes += memory_.packed_bytes == 0 ? 13 * kMiB : kMiB;
    memory_.packed_bytes = 12 * kMiB;
    return Expected<>();
  };
  for (std::int64_t end = 2; end < 12; ++end) {
    const auto loaded = cache.load(heavy_shard(end), {});
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->shard->memory_bytes(), 13 * kMiB) << "as if it were alone";
    EXPECT_EQ(cache.memory_bytes(), (12 + (end - 1)) * kMiB);
  }
  EXPECT_TRUE(cache.unload(cache.entries().front().shard->handle()));
  EXPECT_EQ(cache.memory_bytes(), 21 * kMiB);
}

TEST_F(ShardCacheTest, AFailedLoadLeavesNothing) {
  ShardCache cache = make_cache(25 * kMiB);
  runs_->on_load = [] { return Expected<>(fail(ErrorCode::kCorrupt, "no archive")); };
  const auto failed = cache.load(heavy_shard(), {});
  EXPECT_EQ(failed.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(failed.error().message, HasSubstr("shard fake [0, 2): no archive"));
  EXPECT_TRUE(cache.entries().empty());
  runs_->on_load = [] { return Expected<>(); };
  EXPECT_TRUE(cache.load(heavy_shard(), {}));
}

TEST_F(ShardCacheTest, AWeightThatIsNotThereIsNamed) {
  ShardCache cache = make_cache();
  const auto failed =
      cache.load(make_shard(0, 2, {{"fc.bias", sha256("other"), DType::kFloat32, {1}, true}}), {});
  EXPECT_EQ(failed.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(failed.error().message, HasSubstr("fc.bias"));
}

TEST_F(ShardCacheTest, ABatchThatIsNone) {
  ShardCache cache = make_cache();
  runtime::RunnerOptions options;
  options.batch = 0;
  EXPECT_EQ(cache.load(make_shard(), options).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ShardCacheTest, RunsOfASharedShardTakeTurns) {
  ShardCache cache = make_cache();
  const auto shard = cache.load(make_shard(), {}).value().shard;
  std::latch all_there(3);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        all_there.arrive_and_wait();
        for (int i = 0; i < 50; ++i) {
          auto result = shard->run({filled(static_cast<float>(i))});
          ASSERT_TRUE(result);
          EXPECT_EQ(first_float(result->outputs.at(0)), static_cast<float>(i) + 2);
        }
      });
    }
  }
  EXPECT_EQ(runs_->runs, 150);
  EXPECT_EQ(runs_->most_at_once, 1);
}

TEST_F(ShardCacheTest, LoadsOfTheSameShardAtTheSameTime) {
  ShardCache cache = make_cache();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] { EXPECT_TRUE(cache.load(make_shard(), {})); });
    }
  }
  EXPECT_EQ(runs_->loads, 1);
  EXPECT_EQ(cache.entries().at(0).users, 4U);
}

TEST_F(ShardCacheTest, Profiles) {
  ShardCache cache = make_cache();
  const auto shard = cache.load(make_shard(), {}).value().shard;
  const auto profile = shard->profile(2, 3, 5, {1}).value();
  EXPECT_EQ(runs_->runs, 4) << "the first warms up";
  EXPECT_EQ(profile.whole.size(), 3U);
  ASSERT_EQ(profile.parts.operators.size(), 1U);
  EXPECT_EQ(profile.parts.operators[0].median, Nanoseconds(5));
  ASSERT_EQ(profile.parts.segments.size(), 1U);
  EXPECT_EQ(profile.parts.segments[0].end, 1);
  EXPECT_EQ(shard->profile(0, 5, 0).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(shard->profile(1, -1, 0).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pareto::daemon
