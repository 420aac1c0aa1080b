#include "runtime/engines/engine_choice.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/torch/convert.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using test::written_module;
using testing::HasSubstr;

/// A boundary whose inputs are pictures of that shape.
ShardBoundary boundary_of(const LoadedModule& loaded, const at::Tensor& example) {
  plan::Shard shard;
  shard.inputs.push_back({"x", spec_of(from_torch(example).value())});
  return {loaded.module, shard, c10::kCPU};
}

LoadedModule small() {
  return written_module(R"(
def run(self, x):
    return (torch.relu(torch.conv2d(x, self.w)), x)
)",
                        {{"w", at::randn({16, 16, 3, 3})}});
}

Expected<ChosenEngine> choose(const RunnerOptions& options, const LoadedModule& loaded) {
  return choose_engine(options, loaded, boundary_of(loaded, at::randn({1, 16, 8, 8})));
}

TEST(EngineChoice, ByNameIsThatEngine) {
  const LoadedModule loaded = small();
  for (const std::string& name : engine_names()) {
    RunnerOptions options;
    options.engine = name;
    const auto chosen = choose(options, loaded);
    ASSERT_TRUE(chosen) << name << ": " << chosen.error().message;
    EXPECT_EQ(chosen->name, name);
    EXPECT_EQ(chosen->precision, Precision::kFloat32);
    EXPECT_TRUE(chosen->timings.empty());
  }
}

TEST(EngineChoice, AUnknownNameIsToldTheNearest) {
  RunnerOptions options;
  options.engine = "prepakced";
  const auto chosen = choose(options, small());
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(chosen.error().message,
              testing::AllOf(HasSubstr("did you mean prepacked"), HasSubstr("auto, plain")));
}

TEST(EngineChoice, AutoKeepsOneOfThoseThatItTimed) {
  const auto chosen = choose({}, small());
  ASSERT_TRUE(chosen) << chosen.error().message;
  ASSERT_EQ(chosen->timings.size(), engine_names().size());
  const auto kept = std::ranges::find(chosen->timings, chosen->name, &EngineTiming::engine);
  ASSERT_NE(kept, chosen->timings.end());
  EXPECT_EQ(kept->failure, "");
  for (const EngineTiming& timing : chosen->timings) {
    EXPECT_EQ(timing.failure, "") << timing.engine;
    EXPECT_LT(timing.relative_error, 1e-4) << timing.engine;
    EXPECT_GE(timing.best, kept->best) << timing.engine;
  }
  EXPECT_EQ(chosen->timings[0].relative_error, 0) << "plain is what the others are compared with";
}

TEST(EngineChoice, AutoLeavesOutWhatIsHopeless) {
  RunnerOptions options;
  std::vector<std::string> asked;
  options.is_hopeless = [&](const std::string& engine, Precision, Nanoseconds plain) {
    EXPECT_GT(plain.count(), 0);
    asked.push_back(engine);
    return engine != "onednn";
  };
  const auto chosen = choose(options, small());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(asked.size(), engine_names().size() - 1) << "all but plain";
  EXPECT_EQ(chosen->timings.size(), 2U);
}

TEST(EngineChoice, WhatDoesNotRunOnItsExamplesIsRunPlainly) {
  // Made-up numbers are 0; dividing by them fails.
  const LoadedModule loaded = written_module(R"(
def run(self, x, n: int):
    return (x, 7 // n)
)");
  plan::Shard shard;
  shard.inputs.push_back({"x", spec_of(from_torch(at::randn({1, 3})).value())});
  shard.inputs.push_back({"n", spec_of(Value(std::int64_t{0}))});
  const auto chosen = choose_engine({}, loaded, ShardBoundary(loaded.module, shard, c10::kCPU));
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->name, "plain");
  ASSERT_EQ(chosen->timings.size(), 1U);
  EXPECT_THAT(chosen->timings[0].failure, HasSubstr("does not run on its example inputs"));
  RunnerOptions bf16;
  bf16.precision = Precision::kBFloat16;
  const auto lower = choose_engine(bf16, loaded, ShardBoundary(loaded.module, shard, c10::kCPU));
  ASSERT_TRUE(lower) << lower.error().message;
  EXPECT_EQ(lower->precision, Precision::kFloat32);
  EXPECT_THAT(lower->precision_reason, HasSubstr("nothing can be compared"));
}

TEST(EngineChoice, ANamedEngineThatRefusesTheShardIsAnError) {
  const LoadedModule loaded =
      written_module("\ndef run(self, x):\n    return (torch.max_pool2d(x, [2, 2], [0, 1]),)\n");
  for (const std::string& name : engine_names()) {
    if (name == "plain") continue;
    RunnerOptions options;
    options.engine = name;
    const auto chosen = choose(options, loaded);
    ASSERT_FALSE(chosen) << name;
    EXPECT_EQ(chosen.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(chosen.error().message, HasSubstr("max_pool2d has a stride of 0"));
  }
}

TEST(EngineChoice, BFloat16WithoutAnyErrorAllowedIsNotKept) {
  RunnerOptions options;
  options.precision = Precision::kBFloat16;
  options.max_error = 0;
  const auto chosen = choose(options, small());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->precision, Precision::kFloat32);
  EXPECT_NE(chosen->precision_reason, "");
}

TEST(EngineChoice, RandomShardsAreComparedWithTheSameNumbers) {
  const LoadedModule loaded = written_module(R"(
def run(self, x):
    return (torch.conv2d(x, self.w) + torch.rand([1, 16, 6, 6]),)
)",
                                             {{"w", at::randn({16, 16, 3, 3})}});
  const auto chosen = choose({}, loaded);
  ASSERT_TRUE(chosen) << chosen.error().message;
  for (const EngineTiming& timing : chosen->timings) {
    EXPECT_EQ(timing.failure, "") << timing.engine;
  }
}

}  // namespace
}  // namespace pareto::runtime
