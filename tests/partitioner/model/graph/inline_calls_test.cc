#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::count;
using test::expect_same_when_flat;
using test::graph_of;
using testing::ElementsAre;

/// outer { left { deep }, right { deep } }, of which both `deep` are one class with other weights.
torch::jit::Module nested() {
  torch::manual_seed(4);
  const auto deep = [] {
    torch::jit::Module module("__torch__.Deep");
    module.register_parameter("w", torch::randn({3, 3}), false);
    module.define("def forward(self, x):\n    return torch.relu(x.matmul(self.w))\n");
    return module;
  };
  const auto side = [&](const char* name) {
    torch::jit::Module module(std::string("__torch__.Side") + name);
    module.register_module("deep", deep());
    module.define(
        "def twice(self, x):\n    return self.deep.forward(self.deep.forward(x))\n"
        "def forward(self, x):\n    return self.twice(x) * 2\n");
    return module;
  };
  torch::jit::Module outer("__torch__.Outer");
  outer.register_module("left", side("L"));
  outer.register_module("right", side("R"));
  outer.define("def forward(self, x):\n    return self.left.forward(x) + self.right.forward(x)\n");
  return outer;
}

TEST(InlineCalls, LeaveNoCalls) {
  // Its graph does not keep the methods that it calls.
  const torch::jit::Module module = nested();
  const auto graph = graph_of(module);
  inline_calls(*graph);
  EXPECT_EQ(count(graph, "prim::CallMethod"), 0U);
  EXPECT_EQ(count(graph, "prim::CallFunction"), 0U);
  EXPECT_EQ(count(graph, "aten::matmul"), 4U);
}

TEST(InlineCalls, OperatorsHaveThePathOfTheirModule) {
  const torch::jit::Module module = nested();
  const auto graph = graph_of(module);
  inline_calls(*graph);
  std::vector<std::string> paths;
  for (torch::jit::Node* node :
       nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::relu"))) {
    paths.push_back(scope_path(node));
  }
  EXPECT_THAT(paths, ElementsAre("left.deep", "left.deep", "right.deep", "right.deep"));
  paths.clear();
  for (torch::jit::Node* node :
       nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::mul"))) {
    paths.push_back(scope_path(node));
  }
  EXPECT_THAT(paths, ElementsAre("left", "right"));
}

TEST(InlineCalls, ComputeTheSame) { expect_same_when_flat(nested(), "3"); }

TEST(InlineCalls, InBranchesAndLoopsAreInlinedToo) {
  torch::jit::Module module("__torch__.Calls");
  module.define(R"(
def step(self, x, n: int):
    return x * 0.5 + n

def forward(self, x):
    if bool(x.sum() > 0):
        x = self.step(x, 1)
    else:
        x = self.step(x, 2)
    n = 0
    while n < x.size(0):
        x = self.step(x, n)
        n += 1
    return x
)");
  const auto graph = graph_of(module);
  inline_calls(*graph);
  EXPECT_EQ(count(graph, "prim::CallMethod"), 0U);
  EXPECT_EQ(count(graph, "aten::mul"), 3U);
  const at::Tensor x = at::randn({3});
  EXPECT_TRUE(
      test::interpreted(graph, module, {x}).toTensor().equal(module.forward({x}).toTensor()));
}

TEST(InlineCalls, WeightsOfTwoModulesOfOneClassAreTwo) {
  const auto model = test::open(nested(), "3");
  ASSERT_TRUE(model) << model.error().message;
  std::vector<std::string> names;
  for (const GraphWeight& weight : model->graph().weights) names.push_back(weight.name);
  EXPECT_THAT(names, ElementsAre("left.deep.w", "right.deep.w"));
}

}  // namespace
}  // namespace pareto::model
