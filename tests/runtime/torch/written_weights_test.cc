#include "runtime/torch/written_weights.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/passes/constant_propagation.h>

namespace pareto::runtime {
namespace {

torch::jit::Module writing_module(const std::string& code) {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("training", c10::BoolType::get(), false);
  for (const char* name : {"a", "b"}) module.register_parameter(name, at::ones({4}), false);
  module.define(code);
  return module;
}

/// Names of inputs and attributes that the graph writes.
std::vector<std::string> written_in(const std::string& code) {
  const torch::jit::Module module = writing_module(code);
  const auto graph = module.get_method("run").graph()->copy();
  std::vector<std::string> names;
  for (const torch::jit::Value* value : written_tensors(*graph)) {
    const torch::jit::Node* const node = value->node();
    names.push_back(node->kind() == c10::prim::GetAttr ? "self." + node->s(c10::attr::name)
                                                       : value->debugNameBase());
  }
  return names;
}

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(WrittenTensors, AreThoseThatAreWrittenInPlace) {
  EXPECT_THAT(written_in("\ndef run(self, x, y):\n    return (x + y * self.a,)\n"), IsEmpty());
  EXPECT_THAT(written_in("\ndef run(self, x, y):\n    x.add_(y)\n    return (x,)\n"),
              ElementsAre("x"));
  EXPECT_THAT(written_in("\ndef run(self, x, y):\n    self.a.mul_(x)\n    return (self.a,)\n"),
              testing::Contains("self.a"));
}

TEST(WrittenTensors, AViewIsWhatItIsAViewOf) {
  EXPECT_THAT(written_in("\ndef run(self, x, y):\n    x[0].add_(1)\n    return (y,)\n"),
              ElementsAre("x"));
  EXPECT_THAT(written_in("\ndef run(self, x, y):\n    y.view([4]).t().zero_()\n    return (x,)\n"),
              ElementsAre("y"));
}

TEST(WrittenTensors, WhatTheGraphMadeItselfIsNone) {
  EXPECT_THAT(written_in("\ndef run(self, x, y):\n    z = x + 1\n    z.add_(y)\n    return (z,)\n"),
              IsEmpty());
  EXPECT_THAT(
      written_in("\ndef run(self, x, y):\n    z = x.clone()\n    z.relu_()\n    return (z,)\n"),
      IsEmpty());
}

TEST(WrittenTensors, BranchesAndLoopsAreLookedInto) {
  EXPECT_THAT(written_in(R"(
def run(self, x, y):
    if bool(x.sum() > 0):
        y.add_(1)
    for i in range(3):
        x.mul_(2)
    return (x, y)
)"),
              UnorderedElementsAre("x", "y"));
}

TEST(WrittenTensors, ANormThatTrainsWritesItsStatistics) {
  const auto norm = [](const char* training) {
    return written_in(
        "\ndef run(self, x, y):\n    return (torch.batch_norm(x, None, None, self.a, "
        "self.b, " +
        std::string(training) + ", 0.1, 1e-5, True),)\n");
  };
  EXPECT_THAT(norm("True"), UnorderedElementsAre("self.a", "self.b"));
  EXPECT_THAT(norm("False"), IsEmpty());
  EXPECT_THAT(norm("bool(x.sum() > 0)"), UnorderedElementsAre("self.a", "self.b"));
  EXPECT_THAT(
      written_in("\ndef run(self, x, y):\n    return (torch._batch_norm_impl_index(x, None, "
                 "None, self.a, self.b, True, 0.1, 1e-5, True)[0],)\n"),
      UnorderedElementsAre("self.a", "self.b"));
  EXPECT_THAT(written_in("\ndef run(self, x, y):\n    return (torch.instance_norm(x, None, None, "
                         "self.a, self.b, False, 0.1, 1e-5, True),)\n"),
              UnorderedElementsAre("self.a", "self.b"))
      << "it writes back a mean";
  EXPECT_THAT(written_in("\ndef run(self, x, y):\n    return (torch.instance_norm(x, None, None, "
                         "None, None, True, 0.1, 1e-5, True),)\n"),
              IsEmpty());
}

TEST(CopyWrittenWeights, EveryRunBeginsWithTheWeightsAsTheyAre) {
  const torch::jit::Module module = writing_module(R"(
def run(self, x):
    self.a.add_(x)
    return (self.a * self.b,)
)");
  const auto graph = module.get_method("run").graph()->copy();
  EXPECT_EQ(copy_written_weights(*graph), 2U) << "one weight, of which a copy is made and filled";
  torch::jit::Code code(graph, "run");
  for (int run = 0; run < 3; ++run) {
    torch::jit::Stack stack{module._ivalue(), at::full({4}, 2)};
    torch::jit::InterpreterState(code).run(stack);
    EXPECT_TRUE(stack.back().toTupleRef().elements()[0].toTensor().equal(at::full({4}, 3)));
  }
  EXPECT_TRUE(module.attr("a").toTensor().equal(at::ones({4})));
}

TEST(CopyWrittenWeights, WhereNothingIsWrittenNothingIsCopied) {
  const torch::jit::Module module =
      writing_module("\ndef run(self, x):\n    return (self.a * x + self.b,)\n");
  const auto graph = module.get_method("run").graph()->copy();
  const auto before = std::distance(graph->nodes().begin(), graph->nodes().end());
  EXPECT_EQ(copy_written_weights(*graph), 0U);
  EXPECT_EQ(std::distance(graph->nodes().begin(), graph->nodes().end()), before);
}

TEST(CopyWrittenConstants, EveryRunBeginsWithTheConstantsAsTheyAre) {
  // type_as returns the very tensor that it is given, which no schema says.
  const torch::jit::Module module = writing_module(R"(
def run(self, x):
    z = torch.zeros([4])
    one = torch.ones([4])
    return (z.type_as(x).add_(x), torch.add(one, x))
)");
  auto graph = module.get_method("run").graph()->copy();
  torch::jit::ConstantPropagation(graph);
  ASSERT_EQ(tensor_constants(*graph).size(), 2U);
  EXPECT_EQ(copy_written_constants(*graph), 2U) << "zeros, of which a copy is made and filled";
  torch::jit::ConstantPropagation(graph);
  torch::jit::Code code(graph, "run");
  for (int run = 0; run < 3; ++run) {
    torch::jit::Stack stack{module._ivalue(), at::full({4}, 2)};
    torch::jit::InterpreterState(code).run(stack);
    EXPECT_TRUE(stack.back().toTupleRef().elements()[0].toTensor().equal(at::full({4}, 2)));
  }
}

TEST(CopyWrittenConstants, ThoseThatNobodyWritesStayConstants) {
  const torch::jit::Module module =
      writing_module("\ndef run(self, x):\n    y = x + torch.ones([4])\n    return (y.add_(1),)\n");
  auto graph = module.get_method("run").graph()->copy();
  torch::jit::ConstantPropagation(graph);
  EXPECT_EQ(tensor_constants(*graph).size(), 1U);
  EXPECT_EQ(copy_written_constants(*graph), 0U);
}

TEST(ForEachNode, VisitsOuterNodesBeforeInnerOnes) {
  const torch::jit::Module module = writing_module(R"(
def run(self, x):
    for i in range(3):
        if bool(x.sum() > i):
            x = x + 1
    return (x,)
)");
  std::vector<c10::Symbol> kinds;
  for_each_node(module.get_method("run").graph()->block(),
                [&](torch::jit::Node* node) { kinds.push_back(node->kind()); });
  const auto at = [&](c10::Symbol kind) { return std::ranges::find(kinds, kind); };
  ASSERT_NE(at(c10::aten::add), kinds.end());
  EXPECT_LT(at(c10::prim::Loop), at(c10::prim::If));
  EXPECT_LT(at(c10::prim::If), at(c10::aten::add));
}

}  // namespace
}  // namespace pareto::runtime
