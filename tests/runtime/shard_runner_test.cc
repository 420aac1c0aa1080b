#include "runtime/shard_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/base/pause.h"
#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using test::HandMadeShard;
using test::picture;
using test::small_network;
using testing::HasSubstr;

TEST(ShardRunner, StructuredValuesPassThroughEveryKindOfBoundary) {
  HandMadeShard shard;
  const Value tensors =
      List{{from_torch(torch::ones({2})).value(), from_torch(torch::ones({2})).value()}};
  const Value names = Dict{{{"a", from_torch(torch::ones({2})).value()}}};
  shard.input("list", tensors)
      .input("dict", names)
      .input("none", None{})
      .input("empty", List{})
      .code(R"(
def run(self, list: List[Tensor], dict: Dict[str, Tensor], none: Optional[Tensor], empty: List[int]):
    return (list[0] + list[1] + dict["a"], dict, none, len(empty), empty)
)");
  for (const char* engine : {"plain", "auto"}) {
    const auto runner = shard.load(engine);
    ASSERT_TRUE(runner) << runner.error().message;
    const auto outputs = (*runner)->run({tensors, names, None{}, List{}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_TRUE(bit_equal((*outputs)[0], from_torch(torch::full({2}, 3.0F)).value()));
    EXPECT_TRUE(bit_equal((*outputs)[1], names));
    EXPECT_TRUE((*outputs)[2].is<None>());
    EXPECT_EQ(*(*outputs)[3].get_if<std::int64_t>(), 0);
    EXPECT_TRUE((*outputs)[4].is<List>());
  }
}

/// Counts how often a run could be paused, and ends it once it is told to.
class Pauses final : public Pauser {
 public:
  bool is_wanted() const override { return true; }
  bool pause() override { return ++count != last; }

  int count = 0;
  int last = -1;
};

TEST(ShardRunner, EveryEngineCanBePausedBetweenOperators) {
  HandMadeShard shard = small_network();
  const std::vector<Value> inputs{picture(), std::int64_t{7}};
  for (const std::string& engine : engine_names()) {
    const auto runner = shard.load(engine);
    ASSERT_TRUE(runner) << engine << ": " << runner.error().message;
    const auto expected = (*runner)->run(inputs);
    ASSERT_TRUE(expected) << engine << ": " << expected.error().message;
    Pauses pauses;
    const PauseScope scope(&pauses);
    const auto outputs = (*runner)->run(inputs);
    ASSERT_TRUE(outputs) << engine << ": " << outputs.error().message;
    EXPECT_TRUE(bit_equal((*outputs)[0], (*expected)[0])) << engine;
    EXPECT_GE(pauses.count, 2) << engine;
    pauses.last = pauses.count + 2;
    const auto ended = (*runner)->run(inputs);
    ASSERT_FALSE(ended) << engine;
    EXPECT_THAT(ended.error().message, HasSubstr("it was stopped")) << engine;
  }
}

TEST(ShardRunner, InputsAreNeverWrittenTo) {
  HandMadeShard shard;
  const Value x = from_torch(torch::full({4}, -1.0F)).value();
  shard.input("x", x).code("def run(self, x):\n    return (torch.relu_(x), 1)\n");
  const Value given = from_torch(torch::full({4}, -1.0F)).value();
  const auto outputs = shard.load("plain").value()->run({given}).value();
  EXPECT_TRUE(bit_equal(outputs[0], from_torch(torch::zeros({4})).value()));
  EXPECT_TRUE(bit_equal(given, from_torch(torch::full({4}, -1.0F)).value()));
}

TEST(ShardRunner, WeightsThatAreWrittenAreCopiesInEveryRun) {
  torch::manual_seed(3);
  HandMadeShard shard;
  // Three weights of the same bytes, and two of others: to the store they are two.
  shard.weight("a", torch::randn({8, 3, 3, 3}))
      .weight("count", torch::zeros({8}))
      .weight("beta", torch::zeros({8}))
      .weight("mean", torch::zeros({8}))
      .weight("gamma", torch::ones({8}))
      .weight("var", torch::ones({8}))
      .input("x", picture())
      .code(R"(
def run(self, x):
    self.count.add_(1.0)
    y = torch.conv2d(x, self.a)
    y = torch.batch_norm(y, self.gamma, self.beta, self.mean, self.var, True, 0.1, 1e-5, False)
    return (torch.relu(y), self.count, self.mean + self.beta)
)");
  shard.shard().end = 5;
  const std::vector<Value> inputs{picture()};
  const auto plain = shard.load("plain").value();
  const auto expected = plain->run(inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  std::vector<std::string> engines = engine_names();
  engines.emplace_back("auto");
  for (const std::string& engine : engines) {
    const auto runner = shard.load(engine);
    ASSERT_TRUE(runner) << engine << ": " << runner.error().message;
    const auto first = (*runner)->run(inputs);
    ASSERT_TRUE(first) << engine << ": " << first.error().message;
    EXPECT_LT(relative_error(Tuple{*expected}, Tuple{*first}), 1e-5) << engine;
    EXPECT_TRUE(bit_equal((*first)[1], from_torch(torch::ones({8})).value())) << engine;
    EXPECT_TRUE(bit_equal(Tuple{(*runner)->run(inputs).value()}, Tuple{*first})) << engine;
  }
  for (const auto& [digest, tensor] : shard.store()) EXPECT_EQ(sha256(tensor.bytes()), digest);
  const auto profile = plain->profile(inputs, 2, {});
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->operators.size(), 5U);
  EXPECT_EQ(profile->operators.front().kind, "aten::add_") << "copying is no operator of the model";
}

TEST(ShardRunner, WrongInputsAreErrors) {
  const auto runner = small_network().load("plain").value();
  EXPECT_THAT(runner->run({picture()}).error().message,
              HasSubstr("1 values given, the shard takes 2"));
  EXPECT_THAT(runner->run({std::int64_t{1}, std::int64_t{1}}).error().message,
              HasSubstr("input x"));
  const Value wrong = from_torch(torch::randn({1, 5, 16, 16})).value();
  const auto refused = runner->run({wrong, std::int64_t{1}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("channels"));
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
  EXPECT_TRUE(runner->run({picture(), std::int64_t{1}}))
      << "a refused request leaves the shard usable";
}

TEST(ShardRunner, WhatDoesNotLoadSaysWhy) {
  const auto refusal = [](auto change, const RunnerOptions& options = {}) {
    auto shard = small_network();
    change(shard);
    const auto loaded = shard.load(options);
    return loaded ? Error{ErrorCode::kInternal, "loaded"} : loaded.error();
  };
  EXPECT_EQ(refusal([](auto& s) { s.shard().archive = "not an archive"; }).code,
            ErrorCode::kCorrupt);
  EXPECT_EQ(refusal([](auto& s) { s.shard().archive.resize(200); }).code, ErrorCode::kCorrupt);
  EXPECT_THAT(refusal([](auto& s) { s.store().clear(); }).message,
              HasSubstr("weight a: no tensor"));
  EXPECT_EQ(refusal([](auto& s) {
              s.shard().weights[0].shape = {8, 3, 3, 4};
            }).code,
            ErrorCode::kCorrupt);
  EXPECT_EQ(refusal([](auto& s) { s.shard().weights[0].name = "other"; }).code,
            ErrorCode::kCorrupt);
  EXPECT_EQ(refusal([](auto& s) { s.shard().inputs.pop_back(); }).code, ErrorCode::kCorrupt);
  const auto none = [](auto&) {};
  EXPECT_THAT(refusal(none, {.engine = "plan"}).message, HasSubstr("did you mean plain?"));
  EXPECT_THAT(refusal(none, {.threads = 0}).message, HasSubstr("0 threads"));
  EXPECT_THAT(refusal(none, {.device = "tpu"}).message, HasSubstr("cpu or cuda:N"));
  if (runtime_info().cuda_devices == 0) {
    EXPECT_THAT(refusal(none, {.device = "cuda:0"}).message, HasSubstr("CUDA"));
  }
}

TEST(ShardRunner, TimesEveryOperatorAndSegment) {
  auto shard = small_network();
  shard.shard().begin = 10;
  shard.shard().end = 19;
  shard.shard().scopes = {"first"};
  const auto runner = shard.load("plain").value();
  const std::vector<Value> inputs{picture(), std::int64_t{7}};
  const auto profile = runner->profile(inputs, 3, {12});
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->operators.size(), 9U);
  EXPECT_EQ(profile->operators.front().position, 10);
  EXPECT_EQ(profile->operators.front().kind, "aten::conv2d");
  EXPECT_EQ(profile->operators.front().scope, "first");
  EXPECT_THAT(profile->operators.front().what, HasSubstr("aten::conv2d(Float[1, 3, "));
  for (const OperatorTime& time : profile->operators)
    EXPECT_GT(time.median.count(), 0) << time.kind;
  ASSERT_EQ(profile->segments.size(), 2U);
  EXPECT_EQ(profile->segments[0].begin, 10);
  EXPECT_EQ(profile->segments[0].end, 12);
  EXPECT_EQ(profile->segments[1].begin, 12);
  EXPECT_EQ(profile->segments[1].end, shard.shard().end);
  for (const SegmentTime& time : profile->segments) EXPECT_GT(time.median.count(), 0);
  EXPECT_THAT(profile->operators_until_output, testing::ElementsAre(9, 5, 0))
      << "the last, the relu before the pool, an input";
  // One run: the segment is exactly its operators.
  const auto once = runner->profile(inputs, 1, {12}).value();
  EXPECT_EQ(once.segments[0].median, once.operators[0].median + once.operators[1].median);
  for (const std::vector<std::int64_t>& cuts :
       {std::vector<std::int64_t>{10}, {12, 12}, {13, 12}, {1000}}) {
    EXPECT_EQ(runner->profile(inputs, 1, cuts).error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(ShardRunner, TwoShardsRunInTwoThreads) {
  auto shard = small_network();
  const std::vector<Value> inputs{picture(), std::int64_t{7}};
  const auto a = shard.load("auto").value();
  const auto b = shard.load("auto").value();
  const auto expected = a->run(inputs).value();
  const auto hammer = [&](ShardRunner& runner) {
    for (int i = 0; i < 50; ++i) {
      const auto outputs = runner.run(inputs);
      ASSERT_TRUE(outputs);
      EXPECT_LT(relative_error(Tuple{expected}, Tuple{*outputs}), 1e-5);
    }
  };
  std::jthread first([&] { hammer(*a); });
  std::jthread second([&] { hammer(*b); });
}

}  // namespace
}  // namespace pareto::runtime
