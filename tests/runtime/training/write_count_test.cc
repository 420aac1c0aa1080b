#include "runtime/training/write_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

/// Runs a graph of `code` with a tensor of zeros and a number; returns what is in the tensor then.
float written(const std::string& code, std::int64_t number) {
  torch::jit::Module module("__torch__.Writes");
  module.define(code);
  const auto graph = module.get_method("run").graph()->copy();
  insert_write_counts(*graph);
  const torch::jit::Code compiled(graph, "run");
  const at::Tensor tensor = at::zeros({1});
  torch::jit::Stack stack{module._ivalue(), tensor, number};
  torch::jit::InterpreterState(compiled).run(stack);
  return tensor.item<float>();
}

constexpr const char* kLoop = R"(
def run(self, x, n: int):
    x.mul_(1)
    for i in range(n):
        if i % 2 == 0:
            x.add_(1)
    return x
)";

TEST(WriteCount, AsManyAsThereMayBeAreWritten) {
  const WriteCountScope scope;
  EXPECT_EQ(written(kLoop, kMostWrites - 1), static_cast<float>(kMostWrites / 2));
  EXPECT_ANY_THROW(written(kLoop, 0)) << "the first of this one is one too many";
}

TEST(WriteCount, OneMoreIsRefusedBeforeItIsWritten) {
  const WriteCountScope scope;
  try {
    written(kLoop, kMostWrites);
    FAIL() << "it was not refused";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("a pass may write in place at most 30000 times"));
  }
}

TEST(WriteCount, LoopsInLoopsCountTheirOwn) {
  const WriteCountScope scope;
  constexpr const char* kCode = R"(
def run(self, x, n: int):
    for i in range(n):
        x.add_(1)
        for j in range(n):
            x.add_(1)
    return x
)";
  EXPECT_EQ(written(kCode, 99), 99 * 100);
  EXPECT_EQ(written(kCode, 99), 99 * 100);
  EXPECT_EQ(written(kCode, 99), 99 * 100);
  EXPECT_ANY_THROW(written(kCode, 99));
}

TEST(WriteCount, OnlyWhatIsWrittenCounts) {
  const WriteCountScope scope;
  EXPECT_EQ(written("def run(self, x, n: int):\n    y = x\n    for i in range(n):\n"
                    "        y = y + 1\n    return y\n",
                    2 * kMostWrites),
            0);
}

TEST(WriteCount, NobodyCountsWithoutAScope) {
  EXPECT_EQ(written(kLoop, 4 * kMostWrites), static_cast<float>(2 * kMostWrites));
  const WriteCountScope outer;
  {
    const WriteCountScope inner;
    EXPECT_GT(written(kLoop, kMostWrites - 1), 0);
  }
  EXPECT_GT(written(kLoop, kMostWrites - 1), 0) << "what the inner one counted is its own";
}

}  // namespace
}  // namespace pareto::runtime
