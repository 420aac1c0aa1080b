// Shards that take memory without end: the request fails, and its memory is free again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include "core/base/process_memory.h"
#include "runtime/torch/memory_limit.h"
#include "tests/runtime/strange_shard.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kLimit = std::uint64_t{64} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCountsHeap = false;
#else
constexpr bool kCountsHeap = true;
#endif

/// Code that takes much when its input is large, and nothing when it is loaded.
std::string greedy(const std::string& statements) {
  return "\ndef run(self, x):\n    n = int(x.sum())\n    if n > 1000:\n" + statements +
         "    return (x + n,)\n";
}

struct GreedyCode {
  const char* statements;
  bool on_heap;
};

// What a loop makes is used behind it: LibTorch leaves out what nobody uses.
const GreedyCode kGreedy[] = {
    {"        x = x.repeat([n * 1000, 1])\n", false},
    {"        x = torch.repeat_interleave(x, n * 1000, 0)\n", false},
    {"        x = torch.zeros([n * 1000000])\n", false},
    {"        x = torch.ones([n, n])\n", false},
    {"        while bool(x.numel() > 0):\n            x = torch.cat([x, x])\n", false},
    {"        l = [x]\n        while n > 0:\n            l.append(x.repeat([1000, 1]))\n"
     "        x = torch.cat(l)\n",
     false},
    {"        l = [0]\n        while n > 0:\n            l.append(n)\n        n = len(l)\n", true},
    {"        l = [0] * (n * 1000000)\n        n = len(l)\n", true},
    {"        l = [0] * (n * 1000000000000)\n        n = len(l)\n", true},
    {"        s = \"a\"\n        while n > 0:\n            s = s + s\n        n = len(s)\n", true},
    {"        l = [\"a\"]\n        while n > 0:\n            l.append(str(n))\n        n = "
     "len(l)\n",
     true},
    {"        d = {0: 0}\n        while n > 0:\n            d[n] = n\n            n += 1\n"
     "        n = len(d)\n",
     true},
    {"        l = list(range(n * 10000000))\n        n = len(l)\n", true},
};

TEST(HostileMemory, IsRefusedAndTheShardRunsOn) {
  for (const GreedyCode& code : kGreedy) {
    if (code.on_heap && !kCountsHeap) continue;
    RunnerOptions options;
    options.memory_bytes = kLimit;
    options.engine = "plain";
    const auto runner = test::load(test::shard_of(greedy(code.statements)), options);
    ASSERT_TRUE(runner) << code.statements << runner.error().message;
    const auto refused = (*runner)->run(test::four_times(1e4));
    ASSERT_FALSE(refused) << code.statements;
    EXPECT_EQ(refused.error().code, ErrorCode::kExhausted) << refused.error().message;
    EXPECT_THAT(refused.error().message, HasSubstr("out of memory: the shard takes more than its"))
        << code.statements;
    EXPECT_TRUE((*runner)->run(test::ones())) << code.statements;
  }
}

TEST(HostileMemory, EveryEngineAndScheduleIsLimited) {
  for (const std::string& engine : engine_names()) {
    RunnerOptions options;
    options.memory_bytes = kLimit;
    options.engine = engine;
    const auto runner =
        test::load(test::shard_of(greedy("        x = torch.zeros([n * 1000000])\n")), options);
    if (!runner) continue;  // an engine that has nothing to do
    const auto refused = (*runner)->run(test::four_times(1e4));
    ASSERT_FALSE(refused) << engine;
    EXPECT_EQ(refused.error().code, ErrorCode::kExhausted) << engine << refused.error().message;
  }
}

TEST(HostileMemory, LoadingIsLimitedToo) {
  RunnerOptions options;
  options.memory_bytes = kLimit;
  const std::uint64_t before = process_memory().peak_bytes;
  const auto runner = test::load(test::shard_of(R"(
def run(self, x):
    return (x + torch.ones([250000000]).sum(),)
)"),
                                 options);
  // Inputs of the example need not fit a shard: only a request tells.
  ASSERT_TRUE(runner) << runner.error().message;
  EXPECT_LT(process_memory().peak_bytes, before + 10 * kLimit);
  const auto refused = (*runner)->run(test::ones());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted) << refused.error().message;
}

TEST(HostileMemory, WhatARunFreedIsNotCountedAndWhatItReturnsIsNotHeldAgainstTheNext) {
  RunnerOptions options;
  options.memory_bytes = kLimit;
  options.engine = "plain";
  const auto runner = test::load(test::shard_of(R"(
def run(self, x):
    y = torch.zeros([1])
    for i in range(100):
        y = torch.zeros([4000000])
        l = [i] * 1000000
    return (y,)
)"),
                                 options);
  ASSERT_TRUE(runner) << runner.error().message;
  std::vector<std::vector<Value>> kept;
  for (int i = 0; i < 8; ++i) {
    auto outputs = (*runner)->run(test::ones());
    ASSERT_TRUE(outputs) << outputs.error().message;
    kept.push_back(*std::move(outputs));
  }
}

}  // namespace
}  // namespace pareto::runtime
