#include "runtime/training/random_numbers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "runtime/torch/convert.h"

namespace pareto::runtime {
namespace {

constexpr auto kCpu = c10::DeviceType::CPU;

/// Draws of several kinds: a normal one keeps a second number for the next.
at::Tensor draw() {
  return at::cat({at::randn({3}), at::rand({2}), at::randint(100, {2}).to(at::kFloat)});
}

at::Tensor drawn_from(const Value& random) {
  const RandomTurn turn(random, kCpu);
  return draw();
}

TEST(RandomTurn, ASeedGivesTheStreamOfThatSeed) {
  for (const std::int64_t seed : {std::int64_t{0}, std::int64_t{5}, std::int64_t{-1},
                                  std::numeric_limits<std::int64_t>::min()}) {
    const at::Tensor given = drawn_from(seed);
    at::manual_seed(static_cast<std::uint64_t>(seed));
    EXPECT_TRUE(given.equal(draw())) << seed;
  }
  EXPECT_FALSE(drawn_from(std::int64_t{1}).equal(drawn_from(std::int64_t{2})));
}

TEST(RandomTurn, AStateGoesOnWhereTheStreamWas) {
  std::vector<at::Tensor> whole;
  {
    const RandomTurn turn(std::int64_t{9}, kCpu);
    for (int i = 0; i < 6; ++i) whole.push_back(draw());
  }
  // Stage by stage, with other draws between.
  Value random = std::int64_t{9};
  for (int i = 0; i < 6; ++i) {
    RandomTurn turn(random, kCpu);
    EXPECT_TRUE(draw().equal(whole[i])) << "stage " << i;
    random = turn.state().value();
    static_cast<void>(draw());
  }
}

TEST(RandomTurn, TheStateOfOneTurnIsNotChangedByTheNext) {
  Value kept;
  {
    RandomTurn turn(std::int64_t{3}, kCpu);
    static_cast<void>(draw());
    kept = turn.state().value();
  }
  const at::Tensor first = drawn_from(kept);
  EXPECT_TRUE(drawn_from(kept).equal(first));
  EXPECT_TRUE(drawn_from(kept).equal(first));
}

TEST(RandomTurn, WhatIsNeitherASeedNorAStateIsRefusedAndTheTurnIsFree) {
  for (const Value& wrong : {Value(None{}), Value(1.5), Value(true), Value("5"), Value(List{})}) {
    EXPECT_THROW(RandomTurn(wrong, kCpu), std::runtime_error);
  }
  const Value state = RandomTurn(std::int64_t{1}, kCpu).state().value();
  const at::Tensor bytes = to_torch(*state.get_if<Tensor>());
  for (const at::Tensor& wrong : {bytes.narrow(0, 0, bytes.numel() - 1), at::zeros({0}, at::kByte),
                                  bytes.to(at::kInt), at::cat({bytes, bytes}), at::zeros({3})}) {
    EXPECT_ANY_THROW(RandomTurn(from_torch(wrong.contiguous()).value(), kCpu)) << wrong.sizes();
  }
  EXPECT_TRUE(drawn_from(std::int64_t{4}).equal(drawn_from(std::int64_t{4})));
}

TEST(RandomTurn, ThreadsDrawAsIfEachWereAlone) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 25;
  std::vector<at::Tensor> expected;
  for (int seed = 0; seed < kThreads; ++seed) expected.push_back(drawn_from(std::int64_t{seed}));
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int seed = 0; seed < kThreads; ++seed) {
    threads.emplace_back([&, seed] {
      for (int i = 0; i < kTurns; ++i) {
        if (!drawn_from(std::int64_t{seed}).equal(expected[seed])) ++wrong[seed];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads));
}

}  // namespace
}  // namespace pareto::runtime
