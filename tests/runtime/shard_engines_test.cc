// One shard in every engine, and the choice of the fastest one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using test::HandMadeShard;
using test::picture;
using test::small_network;
using testing::HasSubstr;

TEST(ShardRunner, EveryEngineAgreesWithPlain) {
  auto shard = small_network();
  const std::vector<Value> inputs{picture(), std::int64_t{7}};
  const auto expected = shard.load("plain").value()->run(inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  ASSERT_EQ(expected->size(), 3U);
  EXPECT_EQ(*(*expected)[2].get_if<std::int64_t>(), 7);
  for (const std::string& engine : engine_names()) {
    const auto runner = shard.load(engine);
    ASSERT_TRUE(runner) << engine << ": " << runner.error().message;
    const auto outputs = (*runner)->run(inputs);
    ASSERT_TRUE(outputs) << engine << ": " << outputs.error().message;
    EXPECT_LT(relative_error(Tuple{*expected}, Tuple{*outputs}), 1e-5) << engine;
    EXPECT_EQ((*runner)->report().engine, engine);
    EXPECT_EQ((*runner)->report().packed_bytes > 0, engine == "prepacked") << engine;
  }
}

/// Returns the part that flattens images by a view: it takes row-major tensors only.
HandMadeShard flat_suffix() {
  torch::manual_seed(2);
  HandMadeShard shard;
  shard.weight("w", torch::randn({4, 16 * 16 * 16}) * 0.01)
      .input("y", from_torch(torch::randn({1, 16, 16, 16})).value())
      .code(R"(
def run(self, y):
    return (torch.matmul(y.view([-1, 4096]), self.w.t()),)
)");
  return shard;
}

TEST(ShardRunner, ImagesKeepTheirLayoutOnABoundary) {
  auto prefix = small_network();
  auto suffix = flat_suffix();
  const std::vector<Value> inputs{picture(), std::int64_t{7}};
  const Value whole = prefix.load("plain").value()->run(inputs).value()[1];
  const auto expected = suffix.load("plain").value()->run({whole}).value();
  for (const std::string& engine : engine_names()) {
    const Value boundary = prefix.load(engine).value()->run(inputs).value()[1];
    const bool channels_last = engine == "channels_last" || engine == "prepacked";
    EXPECT_EQ(boundary.get_if<Tensor>()->layout() == MemoryLayout::kChannelsLast, channels_last)
        << engine;
    for (const std::string& next : engine_names()) {
      const auto runner = suffix.load(next);
      if (!runner) continue;  // an engine without anything to do
      const auto outputs = (*runner)->run({boundary});
      ASSERT_TRUE(outputs) << engine << " to " << next << ": " << outputs.error().message;
      EXPECT_LT(relative_error(Tuple{expected}, Tuple{*outputs}), 1e-4) << engine << " to " << next;
    }
  }
}

TEST(ShardRunner, SizesThatAreNoneAreRefusedByEveryEngine) {
  for (const char* layer :
       {"torch.conv2d(x, self.w, None, [0, 0], [1, 1], [1, 1], 1)",
        "torch.conv2d(x, self.w, None, [1, 1], [-1, -1], [1, 1], 1)",
        "torch.max_pool2d(x, [2, 2], [0, 0], [0, 0], [1, 1], False) + self.w.sum()"}) {
    HandMadeShard shard;
    shard.weight("w", torch::randn({4, 3, 3, 3}))
        .input("x", from_torch(torch::randn({1, 3, 8, 8})).value())
        .code("def run(self, x):\n    return (" + std::string(layer) + ",)\n");
    for (const std::string& engine : engine_names()) {
      const auto runner = shard.load(engine);
      if (!runner) continue;
      EXPECT_FALSE((*runner)->run({from_torch(torch::randn({1, 3, 8, 8})).value()}))
          << engine << ": " << layer;
    }
  }
}

TEST(ShardRunner, LayersWithoutWeightsAreLeftToLibTorch) {
  HandMadeShard shard;
  shard.weight("w", torch::zeros({3, 0}))
      .input("x", from_torch(torch::zeros({2, 0})).value())
      .code("def run(self, x):\n    return (torch.linear(x, self.w),)\n");
  const auto packed = shard.load("prepacked");
  ASSERT_FALSE(packed);
  EXPECT_THAT(packed.error().message, HasSubstr("to pack"));
  const auto outputs = shard.load("plain").value()->run({from_torch(torch::zeros({2, 0})).value()});
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_TRUE(bit_equal((*outputs)[0], from_torch(torch::zeros({2, 3})).value()));
}

TEST(ShardRunner, AutoKeepsTheFastestOfWhatWorks) {
  const auto runner = small_network().load("auto");
  ASSERT_TRUE(runner) << runner.error().message;
  const LoadReport& report = (*runner)->report();
  ASSERT_EQ(report.timings.size(), engine_names().size());
  const auto kept = std::find_if(report.timings.begin(), report.timings.end(),
                                 [&](const EngineTiming& t) { return t.engine == report.engine; });
  ASSERT_NE(kept, report.timings.end());
  for (const EngineTiming& timing : report.timings) {
    EXPECT_TRUE(!timing.failure.empty() || kept->best <= timing.best) << timing.engine;
  }
}

TEST(ShardRunner, AutoDoesNotTryWhatIsHopeless) {
  RunnerOptions options;
  options.is_hopeless = [](const std::string& engine, Precision, Nanoseconds plain) {
    EXPECT_GT(plain.count(), 0);
    return engine != "onednn";
  };
  const auto runner = small_network().load(options);
  ASSERT_TRUE(runner) << runner.error().message;
  std::vector<std::string> tried;
  for (const EngineTiming& timing : (*runner)->report().timings) tried.push_back(timing.engine);
  EXPECT_THAT(tried, testing::ElementsAre("plain", "onednn"));
}

TEST(ShardRunner, OtherBatchesRunAsWell) {
  auto shard = small_network();
  const Value batch = from_torch(torch::randn({5, 3, 16, 16})).value();
  const auto plain = shard.load("plain").value()->run({batch, std::int64_t{1}}).value();
  const auto fast = shard.load("auto").value()->run({batch, std::int64_t{1}}).value();
  EXPECT_EQ(tensors_of(fast[0])[0]->shape(), (Shape{5, 4}));
  EXPECT_LT(relative_error(Tuple{plain}, Tuple{fast}), 1e-5);
}

}  // namespace
}  // namespace pareto::runtime
