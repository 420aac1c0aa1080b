// Outputs that are taken before all of a shard is computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using test::HandMadeShard;
using test::picture;
using test::small_network;

/// Takes everything it is offered.
struct TakeAll final : EarlyOutputs {
  bool wants(std::size_t index) override {
    offered.push_back(index);
    return true;
  }
  void take(std::size_t index, Value value) override { taken[index] = std::move(value); }
  std::vector<std::size_t> offered;
  std::map<std::size_t, Value> taken;
};

TEST(ShardRunner, OutputsCanBeTakenAsSoonAsTheyAreComputed) {
  auto shard = small_network();
  const std::vector<Value> inputs{picture(), std::int64_t{7}};
  for (const std::string& engine : engine_names()) {
    const auto runner = shard.load(engine);
    ASSERT_TRUE(runner) << engine << ": " << runner.error().message;
    const auto expected = (*runner)->run(inputs).value();
    TakeAll early;
    const auto outputs = (*runner)->run_early(inputs, early);
    ASSERT_TRUE(outputs) << engine << ": " << outputs.error().message;
    // n only passes through; z is the last that is computed, y comes before it.
    if (engine == "plain") {
      EXPECT_THAT(early.offered, testing::ElementsAre(2, 1));
    }
    EXPECT_TRUE(early.taken.contains(2)) << engine;
    EXPECT_FALSE(early.taken.contains(0)) << engine;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const bool taken = early.taken.contains(i);
      EXPECT_EQ((*outputs)[i].is<None>(), taken) << engine << " " << i;
      EXPECT_TRUE(bit_equal(taken ? early.taken[i] : (*outputs)[i], expected[i]))
          << engine << " " << i;
    }
    // Who takes nothing gets everything, again.
    EXPECT_TRUE(bit_equal(Tuple{(*runner)->run(inputs).value()}, Tuple{expected})) << engine;
  }
}

TEST(ShardRunner, AnOutputThatIsWrittenToLaterIsNotTakenEarly) {
  HandMadeShard shard;
  shard.input("x", picture()).code(R"(
def run(self, x):
    y = torch.relu(x)
    z = torch.neg(y)
    w = torch.mul_(y, 2)
    return (y, z, torch.exp(z))
)");
  const auto runner = shard.load("plain");
  ASSERT_TRUE(runner) << runner.error().message;
  TakeAll early;
  const auto outputs = (*runner)->run_early({picture()}, early);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_THAT(early.offered, testing::ElementsAre(1));
}

}  // namespace
}  // namespace pareto::runtime
