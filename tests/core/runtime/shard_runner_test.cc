#include "core/runtime/shard_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <limits>
#include <map>
#include <sstream>
#include <thread>

#include "core/runtime/torch/convert.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

/// A shard written by hand: code of "run", weights by name, boundaries by example.
class HandMade {
 public:
  HandMade& weight(const std::string& name, const at::Tensor& tensor) {
    module_.register_parameter(name, torch::zeros({0}), false);
    const Tensor bytes = from_torch(tensor).value();
    const Digest digest = sha256(bytes.bytes());
    shard_.weights.push_back({name, digest, bytes.dtype(), bytes.shape(), true});
    store_[digest] = bytes;
    return *this;
  }
  HandMade& input(const std::string& name, const Value& example) {
    shard_.inputs.push_back({name, spec_of(example)});
    return *this;
  }
  HandMade& code(const std::string& text) {
    module_.register_attribute("training", c10::BoolType::get(), false);
    module_.define(text);
    std::ostringstream bytes;
    module_.save(bytes);
    shard_.archive = bytes.str();
    shard_.model = "hand-made";
    shard_.end = 1;
    return *this;
  }

  plan::Shard& shard() { return shard_; }
  std::map<Digest, Tensor>& store() { return store_; }
  Expected<std::unique_ptr<ShardRunner>> load(const std::string& engine,
                                              Precision precision = Precision::kFloat32) {
    RunnerOptions options;
    options.engine = engine;
    options.precision = precision;
    return load(options);
  }
  Expected<std::unique_ptr<ShardRunner>> load(const RunnerOptions& options) {
    const WeightSource source = [this](const Digest& digest) -> Expected<Tensor> {
      const auto found = store_.find(digest);
      if (found == store_.end()) return fail(ErrorCode::kNotFound, "no tensor {}", digest.hex());
      return found->second;
    };
    return ShardRunner::load(shard_, source, options);
  }

 private:
  torch::jit::Module module_{"__torch__.Shard"};
  plan::Shard shard_;
  std::map<Digest, Tensor> store_;
};

Value picture() { return from_torch(torch::randn({1, 3, 16, 16})).value(); }

/// Returns two convolutions with a batch norm and relus, a pool, a linear layer; passes a number
/// through.
HandMade small_network() {
  torch::manual_seed(1);
  HandMade shard;
  shard.weight("a", torch::randn({8, 3, 3, 3}) * 0.2)
      .weight("gamma", torch::rand({8}) + 0.5)
      .weight("beta", torch::randn({8}))
      .weight("mean", torch::randn({8}) * 0.1)
      .weight("var", torch::rand({8}) + 0.5)
      .weight("b", torch::randn({16, 8, 1, 1}) * 0.2)
      .weight("w", torch::randn({4, 16}))
      .input("x", picture())
      .input("n", std::int64_t{7})
      .code(R"(
def run(self, x, n: int):
    y = torch.conv2d(x, self.a, None, [1, 1], [1, 1])
    y = torch.batch_norm(y, self.gamma, self.beta, self.mean, self.var, False, 0.1, 1e-5, True)
    y = torch.relu(y)
    y = torch.relu(torch.conv2d(y, self.b))
    z = torch.adaptive_avg_pool2d(y, [1, 1]).flatten(1)
    return (torch.matmul(z, self.w.t()), y, n)
)");
  return shard;
}

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

/// Returns the ways in which the small network is run when bf16 is asked for.
LoadReport asked_for_bf16(double max_error) {
  auto shard = small_network();
  RunnerOptions options;
  options.precision = Precision::kBFloat16;
  options.max_error = max_error;
  const auto runner = shard.load(options);
  EXPECT_TRUE(runner) << runner.error().message;
  return runner ? (*runner)->report() : LoadReport{};
}

TEST(ShardRunner, BFloat16ThatIsTooFarOffGivesWayToTheFastestEngineInFloat32) {
  const LoadReport report = asked_for_bf16(1e-9);
  EXPECT_EQ(report.precision, Precision::kFloat32);
  EXPECT_THAT(report.precision_reason, HasSubstr("% of the largest output, the limit is 1e-07 %"));
  std::map<std::string, Nanoseconds> in_fp32;
  for (const EngineTiming& timing : report.timings) {
    if (timing.precision == Precision::kBFloat16) {
      EXPECT_THAT(timing.failure, HasSubstr(timing.relative_error > 0 ? "off by" : "fp32 only"))
          << timing.engine;
    } else if (timing.failure.empty()) {
      in_fp32[timing.engine] = timing.best;
    }
  }
  EXPECT_EQ(in_fp32.size(), engine_names().size()) << "each engine takes part";
  for (const auto& [engine, best] : in_fp32) EXPECT_GE(best, in_fp32.at(report.engine)) << engine;
}

TEST(ShardRunner, ReportsThePrecisionThatRunsAndWhyItIsNotTheOneAskedFor) {
  const LoadReport report = asked_for_bf16(1);
  EXPECT_EQ(report.precision_reason.empty(), report.precision == Precision::kBFloat16)
      << report.precision_reason;
  if (report.precision == Precision::kFloat32) {
    EXPECT_THAT(report.precision_reason, HasSubstr("bf16 is not faster here"));
  }
}

TEST(ShardRunner, KeepsWhyAnEarlierLoadCameToAnotherPrecision) {
  auto shard = small_network();
  RunnerOptions options;
  options.engine = "prepacked";
  options.precision_reason = "bf16 is off";
  const LoadReport report = shard.load(options).value()->report();
  EXPECT_EQ(report.precision, Precision::kFloat32);
  EXPECT_EQ(report.precision_reason, "bf16 is off");
}

TEST(ShardRunner, AnErrorLimitIsAShare) {
  auto shard = small_network();
  for (const double limit : {0.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    RunnerOptions options;
    options.max_error = limit;
    const auto runner = shard.load(options);
    ASSERT_FALSE(runner) << limit;
    EXPECT_EQ(runner.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(runner.error().message, HasSubstr("max_error"));
  }
}

/// Returns the part that flattens images by a view: it takes row-major tensors only.
HandMade flat_suffix() {
  torch::manual_seed(2);
  HandMade shard;
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
    HandMade shard;
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
  HandMade shard;
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
  HandMade shard;
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

TEST(ShardRunner, BFloat16IsNearAndKeepsTypes) {
  auto shard = small_network();
  const std::vector<Value> inputs{picture(), std::int64_t{7}};
  const auto plain = shard.load("plain").value()->run(inputs).value();
  const auto runner = shard.load("channels_last", Precision::kBFloat16);
  ASSERT_TRUE(runner) << runner.error().message;
  const auto outputs = (*runner)->run(inputs).value();
  const double error = relative_error(Tuple{plain}, Tuple{outputs});
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.05);
}

TEST(ShardRunner, StructuredValuesPassThroughEveryKindOfBoundary) {
  HandMade shard;
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

TEST(ShardRunner, InputsAreNeverWrittenTo) {
  HandMade shard;
  const Value x = from_torch(torch::full({4}, -1.0F)).value();
  shard.input("x", x).code("def run(self, x):\n    return (torch.relu_(x), 1)\n");
  const Value given = from_torch(torch::full({4}, -1.0F)).value();
  const auto outputs = shard.load("plain").value()->run({given}).value();
  EXPECT_TRUE(bit_equal(outputs[0], from_torch(torch::zeros({4})).value()));
  EXPECT_TRUE(bit_equal(given, from_torch(torch::full({4}, -1.0F)).value()));
}

TEST(ShardRunner, WeightsThatAreWrittenAreCopiesInEveryRun) {
  torch::manual_seed(3);
  HandMade shard;
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
