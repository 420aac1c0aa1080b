// Every engine of the builtin list against the plain one.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "core/base/thread_pool.h"
#include "runtime/torch/map_tensors.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using test::Case;
using test::written_module;
using Values = std::vector<c10::IValue>;

class Conformance : public testing::TestWithParam<EngineEntry> {
 protected:
  static std::unique_ptr<Engine> built(const LoadedModule& loaded) {
    return GetParam().build(loaded);
  }

 private:
  const c10::InferenceMode inference_;  ///< engines run in it
};
INSTANTIATE_TEST_SUITE_P(All, Conformance, testing::ValuesIn(builtin_engines()),
                         [](const auto& each) { return each.param.name; });

Values copies(const Values& values) {
  Values copied;
  for (const c10::IValue& value : values) {
    copied.push_back(map_tensors(value, [](const at::Tensor& tensor) { return tensor.clone(); }));
  }
  return copied;
}

Values plain_results(const LoadedModule& loaded, const Values& inputs) {
  return build_engine("plain", loaded)->run(copies(inputs), nullptr);
}

/// Both are the same but for rounding.
void expect_near(const c10::IValue& found, const c10::IValue& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(found.tagKind(), expected.tagKind()) << what;
  if (expected.isTensor()) {
    const at::Tensor& a = found.toTensor();
    const at::Tensor& b = expected.toTensor();
    ASSERT_EQ(a.sizes(), b.sizes()) << what;
    if (b.numel() == 0) return;
    const double largest = std::max(1e-3, b.to(at::kDouble).abs().max().item<double>());
    EXPECT_LE((a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>(),
              tolerance * largest)
        << what << " of " << b.sizes();
  } else if (expected.isList()) {
    const auto a = found.toListRef();
    const auto b = expected.toListRef();
    ASSERT_EQ(a.size(), b.size()) << what;
    for (std::size_t i = 0; i < b.size(); ++i) expect_near(a[i], b[i], tolerance, what);
  } else if (expected.isGenericDict()) {
    const auto a = found.toGenericDict();
    const auto b = expected.toGenericDict();
    ASSERT_EQ(a.size(), b.size()) << what;
    for (const auto& entry : b) {
      ASSERT_TRUE(a.contains(entry.key())) << what;
      expect_near(a.at(entry.key()), entry.value(), tolerance, what);
    }
  } else {
    EXPECT_EQ(found, expected) << what;
  }
}

void expect_all_near(const Values& found, const Values& expected, double tolerance,
                     const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    expect_near(found[i], expected[i], tolerance, what + ", result " + std::to_string(i));
  }
}

TEST_P(Conformance, AgreesWithPlain) {
  for (const Case& one : test::all_cases()) {
    const Values expected = plain_results(one.loaded, one.inputs);
    const auto engine = built(one.loaded);
    const double tolerance = GetParam().name == "plain" ? 0 : 2e-5;
    expect_all_near(engine->run(copies(one.inputs), nullptr), expected, tolerance, one.name);
    // What was prepared by the first run serves the next.
    expect_all_near(engine->run(copies(one.inputs), nullptr), expected, tolerance, one.name);
  }
}

TEST_P(Conformance, TakesSizesThatItWasNotBuiltFor) {
  at::manual_seed(12);
  for (const Case& one : {test::convolutions(), test::pooling(), test::winograd_blocks()}) {
    const auto engine = built(one.loaded);
    const std::int64_t channels = one.inputs[0].toTensor().size(1);
    for (const auto& [batch, height, width] :
         {std::tuple{1, 7, 7}, {4, 16, 5}, {1, 5, 31}, {2, 7, 7}, {1, 7, 7}}) {
      const Values inputs{at::randn({batch, channels, height, width})};
      expect_all_near(engine->run(copies(inputs), nullptr), plain_results(one.loaded, inputs), 2e-5,
                      std::string(one.name) + " at " + std::to_string(height));
    }
  }
}

TEST_P(Conformance, AgreesWithPlainAtEveryBatchOnThreadsOfAPool) {
  at::manual_seed(14);
  ThreadPool pool(2);
  const PoolScope scope(&pool);
  for (const Case& one : {test::convolutions(), test::pooling(), test::winograd_blocks()}) {
    const auto engine = built(one.loaded);
    std::vector<std::int64_t> sizes = one.inputs[0].toTensor().sizes().vec();
    for (const std::int64_t batch : {1, 3, 8}) {
      sizes[0] = batch;
      const Values inputs{at::randn(sizes)};
      const Values expected = plain_results(one.loaded, inputs);
      for (int run = 0; run < 2; ++run) {
        expect_all_near(engine->run(copies(inputs), nullptr), expected, 2e-5,
                        std::string(one.name) + " at batch " + std::to_string(batch));
      }
    }
  }
}

TEST_P(Conformance, TakesPicturesThatLieInAnyOrder) {
  at::manual_seed(13);
  for (const Case& one : {test::convolutions(), test::pooling(), test::winograd_blocks()}) {
    const auto engine = built(one.loaded);
    const at::Tensor x = one.inputs[0].toTensor();
    const Values expected = plain_results(one.loaded, one.inputs);
    for (const at::Tensor& same :
         {x.contiguous(at::MemoryFormat::ChannelsLast),
          x.transpose(2, 3).contiguous().transpose(2, 3), at::stack({x, x}, 4).select(4, 1)}) {
      ASSERT_TRUE(same.equal(x));
      expect_all_near(engine->run({same}, nullptr), expected, 2e-5, one.name);
    }
  }
}

TEST_P(Conformance, NeverWritesToItsArguments) {
  for (const Case& one : test::all_cases()) {
    const Values kept = copies(one.inputs);
    built(one.loaded)->run(Values(one.inputs), nullptr);
    expect_all_near(one.inputs, kept, 0, one.name);
  }
}

TEST_P(Conformance, HandsOnWhatItDoesNotCompute) {
  const LoadedModule loaded = written_module(R"(
def run(self, x, n: int, y):
    return (y, torch.conv2d(x, self.w), n, x)
)",
                                             {{"w", at::randn({4, 3, 1, 1})}});
  const at::Tensor x = at::randn({1, 3, 5, 4});
  const at::Tensor y = at::arange(6, at::kLong);
  const Values results = built(loaded)->run({x, std::int64_t{9}, y}, nullptr);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_TRUE(results[0].toTensor().is_same(y));
  EXPECT_EQ(results[2].toInt(), 9);
  EXPECT_TRUE(results[3].toTensor().equal(x));
}

/// Takes those of a set.
class Early final : public EarlyResults {
 public:
  explicit Early(std::vector<std::size_t> wanted) : wanted_(std::move(wanted)) {}
  bool wants(std::size_t index) override {
    return std::find(wanted_.begin(), wanted_.end(), index) != wanted_.end();
  }
  void take(std::size_t index, const c10::IValue& result) override {
    taken.emplace_back(index, result);
  }
  std::vector<std::pair<std::size_t, c10::IValue>> taken;

 private:
  std::vector<std::size_t> wanted_;
};

TEST_P(Conformance, WhatIsTakenEarlyIsWhatWouldHaveBeenReturned) {
  const LoadedModule loaded =
      written_module(R"(
def run(self, x):
    a = torch.relu(torch.conv2d(x, self.w))
    b = torch.conv2d(a, self.v)
    return (a, b * 2, x)
)",
                     {{"w", at::randn({16, 3, 1, 1})}, {"v", at::randn({4, 16, 1, 1})}});
  const Values inputs{at::randn({1, 3, 8, 8})};
  const Values expected = plain_results(loaded, inputs);
  const auto engine = built(loaded);
  for (const std::vector<std::size_t>& wanted :
       std::vector<std::vector<std::size_t>>{{}, {0}, {2}, {0, 2}, {0, 1, 2}}) {
    Early early(wanted);
    Values results = engine->run(copies(inputs), &early);
    for (const auto& [index, value] : early.taken) {
      EXPECT_TRUE(early.wants(index));
      EXPECT_TRUE(results[index].isNone()) << index;
      results[index] = value;
    }
    expect_all_near(results, expected, 2e-5, "with early results");
  }
  // Nobody asks any more.
  expect_all_near(engine->run(copies(inputs), nullptr), expected, 2e-5, "without");
}

TEST_P(Conformance, GoesOnAfterAnInputThatItRefuses) {
  const Case one = test::winograd_blocks();
  const auto engine = built(one.loaded);
  const Values expected = plain_results(one.loaded, one.inputs);
  for (const at::Tensor& wrong : {at::randn({1, 31, 15, 10}), at::randn({7}), at::randn({3, 3})}) {
    EXPECT_ANY_THROW(engine->run({wrong}, nullptr)) << wrong.sizes();
    expect_all_near(engine->run(copies(one.inputs), nullptr), expected, 2e-5, "afterwards");
  }
}

TEST_P(Conformance, InBFloat16IsNearOrRefused) {
  for (Case& one : test::all_cases()) {
    if (std::string(one.name) == "other_types") continue;  // counts what is above zero
    const Values expected = plain_results(one.loaded, one.inputs);
    one.loaded.precision = Precision::kBFloat16;
    Values results;
    try {
      results = built(one.loaded)->run(copies(one.inputs), nullptr);
    } catch (const std::exception&) {
      continue;  // this engine, or this processor, does not compute in it
    }
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      expect_near(results[i], expected[i], 0.08, std::string(one.name) + " in bf16");
    }
  }
}

TEST_P(Conformance, RefusesWindowsThatMakeNoSteps) {
  for (const char* const layer :
       {"torch.conv2d(x, self.w, None, [0, 1])", "torch.conv2d(x, self.w, None, [1, 1], [-1, 0])",
        "torch.max_pool2d(x, [2, 2], [0, 2])", "torch.max_pool2d(x, [0, 2])",
        "torch.avg_pool2d(x, [2, 2], [2, 0])"}) {
    const LoadedModule loaded =
        written_module("\ndef run(self, x):\n    return (" + std::string(layer) + ",)\n",
                       {{"w", at::randn({16, 16, 1, 1})}});
    EXPECT_ANY_THROW(built(loaded)->run({at::randn({1, 16, 4, 4})}, nullptr)) << layer;
  }
}

}  // namespace
}  // namespace pareto::runtime
