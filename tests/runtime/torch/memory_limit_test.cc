#include "runtime/torch/memory_limit.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kLimit = std::uint64_t{64} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHeapIsCounted = false;
#else
constexpr bool kHeapIsCounted = true;
#endif

TEST(MemoryScope, CountsTensorsUntilTheLastOneIsFreed) {
  at::Tensor outlives;
  {
    const MemoryScope scope(kLimit);
    MemoryAccount* const account = current_memory_account();
    ASSERT_NE(account, nullptr);
    EXPECT_EQ(account->tensor_bytes, 0);
    {
      const at::Tensor tensor = at::zeros({1000});
      EXPECT_EQ(account->tensor_bytes, 4000);
    }
    EXPECT_EQ(account->tensor_bytes, 0);
    outlives = at::zeros({1000});
    EXPECT_THROW(at::empty({1 << 30}), std::exception);
  }
  EXPECT_EQ(current_memory_account(), nullptr);
  EXPECT_EQ(outlives.sum().item<float>(), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(outlives.data_ptr()) % 64, 0U);
}

TEST(MemoryScope, WithoutALimitThereIsNoAccount) {
  const MemoryScope scope(std::uint64_t{0});
  EXPECT_EQ(current_memory_account(), nullptr);
  EXPECT_EQ(at::zeros({10}).numel(), 10);
}

TEST(MemoryScope, TensorsUpToTheLimitFitAndNoByteMore) {
  const MemoryScope scope(kLimit);
  {
    const at::Tensor half = at::empty({kLimit / 2}, at::kByte);
    EXPECT_THROW(at::empty({kLimit}, at::kByte), MemoryLimitReached);
    EXPECT_EQ(current_memory_account()->tensor_bytes, static_cast<std::int64_t>(kLimit / 2))
        << "what was refused is not counted";
  }
  const at::Tensor most = at::empty({kLimit - (1 << 16)}, at::kByte);
  EXPECT_THROW(at::empty({1 << 20}, at::kByte), MemoryLimitReached);
}

TEST(MemoryScope, SmallPiecesMayExceedItSoThatErrorsCanBeTold) {
  const MemoryScope scope(kLimit);
  const at::Tensor most = at::empty({kLimit - (1 << 16)}, at::kByte);
  std::vector<at::Tensor> small;
  for (int i = 0; i < 10; ++i) small.push_back(at::empty({1 << 14}, at::kByte));
  EXPECT_THROW(
      {
        for (int i = 0; i < 2000; ++i) small.push_back(at::empty({1 << 16}, at::kByte));
      },
      MemoryLimitReached)
      << "but not without end";
}

TEST(MemoryScope, SizesThatOverflowAreRefused) {
  const MemoryScope scope(kLimit);
  EXPECT_ANY_THROW(at::empty({std::int64_t{1} << 40}, at::kByte));
  EXPECT_ANY_THROW(at::empty({(std::int64_t{1} << 62)}, at::kDouble));
  EXPECT_EQ(current_memory_account()->tensor_bytes, 0);
}

TEST(MemoryScope, AnInnerOneHasItsOwnAccountAndTheOuterComesBack) {
  const MemoryScope outer(kLimit);
  MemoryAccount* const account = current_memory_account();
  const at::Tensor held = at::empty({kLimit / 2}, at::kByte);
  {
    const MemoryScope inner(kLimit);
    EXPECT_NE(current_memory_account(), account);
    const at::Tensor more = at::empty({kLimit / 4 * 3}, at::kByte);
    EXPECT_EQ(account->tensor_bytes, static_cast<std::int64_t>(kLimit / 2));
  }
  EXPECT_EQ(current_memory_account(), account);
  EXPECT_THROW(at::empty({kLimit / 4 * 3}, at::kByte), MemoryLimitReached);
}

TEST(MemoryScope, ThreadsThatHelpChargeTheSameAccount) {
  const MemoryScope scope(kLimit);
  MemoryAccount* const account = current_memory_account();
  std::vector<at::Tensor> made(4);
  std::vector<std::thread> threads;
  for (at::Tensor& tensor : made) {
    threads.emplace_back([&tensor, account] {
      EXPECT_EQ(current_memory_account(), nullptr) << "a thread is not limited by itself";
      const MemoryScope helps(account);
      tensor = at::empty({1 << 20}, at::kByte);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(account->tensor_bytes, 4 << 20);
  made.clear();
  EXPECT_EQ(account->tensor_bytes, 0);
}

TEST(MemoryScope, ATensorMayBeFreedInAnotherThreadLongAfter) {
  at::Tensor outlives;
  {
    const MemoryScope scope(kLimit);
    outlives = at::ones({1000});
  }
  std::thread([tensor = std::move(outlives)]() mutable {
    EXPECT_EQ(tensor.sum().item<float>(), 1000);
    tensor.reset();
  }).join();
}

TEST(MemoryScope, ListsAndTextsCountToo) {
  if (!kHeapIsCounted) GTEST_SKIP() << "a sanitizer has an operator new of its own";
  constexpr std::size_t kFew = std::size_t{4} << 20;
  const MemoryScope scope(kFew);
  EXPECT_THROW(std::string(kFew + (1 << 20), 'a'), std::bad_alloc);
  EXPECT_THROW(std::make_unique<double[]>(kFew), std::bad_alloc);
  for (int i = 0; i < 8; ++i) {
    const std::string text(kFew / 2, 'a');
    EXPECT_EQ(text.back(), 'a') << "what is freed may be taken again";
  }
  const auto held = std::make_unique<char[]>(kFew / 2);
  held[0] = 1;
  EXPECT_THROW(at::empty({kFew / 4 * 3}, at::kByte), MemoryLimitReached)
      << "both kinds count together";
}

TEST(MemoryLimitReached, SaysTheLimit) {
  EXPECT_STREQ(MemoryLimitReached(std::uint64_t{64} << 20).what(),
               "out of memory: the shard takes more than its 64 MiB");
  EXPECT_THAT(MemoryLimitReached(~std::uint64_t{0}).what(), HasSubstr(" MiB")) << "it is not cut";
}

}  // namespace
}  // namespace pareto::runtime
