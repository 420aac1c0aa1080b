// What a frozen graph holds, and what the engines that freeze do with it.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>

#include "runtime/torch/written_weights.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using test::written_module;

std::map<std::string, int> kinds_in(torch::jit::Graph& graph) {
  std::map<std::string, int> kinds;
  for_each_node(graph.block(),
                [&](torch::jit::Node* node) { ++kinds[node->kind().toQualString()]; });
  return kinds;
}

std::vector<at::Tensor> constants_in(torch::jit::Graph& graph) {
  std::vector<at::Tensor> tensors;
  for_each_node(graph.block(), [&](torch::jit::Node* node) {
    if (node->kind() != c10::prim::Constant) return;
    const auto value = torch::jit::toIValue(node->output());
    if (value && value->isTensor()) tensors.push_back(value->toTensor());
  });
  return tensors;
}

TEST(FreezeShard, NormsGoIntoTheConvolutionsBeforeThem) {
  const test::Case one = test::convolutions();
  FrozenShard frozen = freeze_shard(one.loaded);
  auto kinds = kinds_in(*frozen.graph);
  EXPECT_EQ(kinds["aten::batch_norm"], 0);
  EXPECT_EQ(kinds["prim::GetAttr"], 0);
  // The module that it came from is as it was.
  kinds = kinds_in(*one.loaded.module.get_method("run").graph());
  EXPECT_EQ(kinds["aten::batch_norm"], 1);
}

TEST(FreezeShard, NamesTheWindowThatMakesNoSteps) {
  const LoadedModule loaded =
      written_module("\ndef run(self, x):\n    return (torch.max_pool2d(x, [2, 2], [0, 2]),)\n");
  try {
    freeze_shard(loaded);
    FAIL() << "it was taken";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "max_pool2d has a stride of 0");
  }
}

TEST(ResultsIn, AreAsManyAsTheCodeSays) {
  const c10::IValue three = c10::ivalue::Tuple::create({1, 2, 3});
  EXPECT_EQ(results_in(three, 3).size(), 3U);
  for (const std::size_t count : {0U, 1U, 4U}) {
    EXPECT_THROW(results_in(three, count), std::runtime_error) << count;
  }
  EXPECT_THROW(results_in(c10::IValue(1), 1), std::exception);
}

TEST(ConstantsToBFloat16, TurnFloatsAndNothingElse) {
  const LoadedModule loaded = written_module(R"(
def run(self, x, flag: bool):
    y = torch.conv2d(x, self.w)
    if flag:
        y = y + self.b
    return (y, self.n + 1)
)",
                                             {{"w", at::randn({4, 3, 1, 1})},
                                              {"b", at::randn({4, 1, 1})},
                                              {"n", at::arange(3, at::kLong)}});
  FrozenShard frozen = freeze_shard(loaded);
  constants_to_bfloat16(*frozen.graph);
  int shortened = 0;
  for (const at::Tensor& tensor : constants_in(*frozen.graph)) {
    EXPECT_NE(tensor.scalar_type(), at::kFloat);
    shortened += tensor.scalar_type() == at::kBFloat16 ? 1 : 0;
  }
  EXPECT_EQ(shortened, 2) << "those in a branch as well";
}

TEST(ChannelsLastEngine, LeavesResultsInTheShapeOfPlain) {
  const test::Case one = test::winograd_blocks();
  const auto results =
      build_engine("channels_last", one.loaded)->run(std::vector<c10::IValue>(one.inputs), nullptr);
  const auto plain =
      build_engine("plain", one.loaded)->run(std::vector<c10::IValue>(one.inputs), nullptr);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(results[i].toTensor().sizes(), plain[i].toTensor().sizes());
    EXPECT_TRUE(results[i].toTensor().is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

TEST(OnednnEngine, IsForTheCpuAndFullPrecision) {
  test::Case one = test::convolutions();
  one.loaded.precision = Precision::kBFloat16;
  EXPECT_ANY_THROW(build_engine("onednn", one.loaded));
  one.loaded.precision = Precision::kFloat32;
  one.loaded.device = c10::Device("cuda:0");
  EXPECT_ANY_THROW(build_engine("onednn", one.loaded));
}

TEST(PlainEngine, ComputesInTheModelsOwnPrecision) {
  test::Case one = test::convolutions();
  one.loaded.precision = Precision::kBFloat16;
  EXPECT_ANY_THROW(build_engine("plain", one.loaded));
}

TEST(GraphEngine, AResultThatIsNoTupleIsRefused) {
  const LoadedModule loaded = written_module("\ndef run(self, x):\n    return x + 1\n");
  for (const EngineEntry& engine : builtin_engines()) {
    EXPECT_ANY_THROW(engine.build(loaded)) << engine.name;
  }
}

}  // namespace
}  // namespace pareto::runtime
