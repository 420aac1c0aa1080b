// What is simplified, lifted and taken for a number, against the module as LibTorch runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::count;
using test::expect_same_when_flat;
using test::graph_of;
using test::interpreted;
using test::scripted;

std::size_t operators_after(const std::string& body) {
  const auto module = scripted("Simple", "\ndef forward(self, x):\n" + body);
  auto graph = graph_of(module);
  simplify(graph);
  const at::Tensor x = at::randn({2, 3});
  const auto found = runtime::from_ivalue(interpreted(graph, module, {x.clone()}));
  const auto expected = runtime::from_ivalue(interpreted(graph_of(module), module, {x.clone()}));
  EXPECT_TRUE(found && expected) << body;
  if (found && expected) {
    EXPECT_TRUE(bit_equal(*found, *expected)) << body;
  }
  return operators_of(*graph).size();
}

TEST(Simplify, FoldsWhatIsConstant) {
  EXPECT_EQ(operators_after("    n = 3 * 4 + 1\n    return x + n\n"), 1U);
  EXPECT_EQ(operators_after("    if 3 > 2:\n        x = x + 1\n    else:\n        x = x - 1\n"
                            "    return x\n"),
            1U);
  EXPECT_EQ(operators_after("    for i in range(3):\n        x = x + i\n    return x\n"), 2U)
      << "adding 0 is nothing";
}

TEST(Simplify, RemovesWhatNobodyReads) {
  EXPECT_EQ(operators_after("    y = x * 2\n    z = y + 1\n    return x + 1\n"), 1U);
}

TEST(Simplify, RemovesTuplesAndListsThatAreOnlyPassedOn) {
  EXPECT_EQ(operators_after("    t = (x, x + 1)\n    a, b = t\n    return a * b\n"), 2U);
  EXPECT_EQ(operators_after("    l = [x, x + 1]\n    return l[0] * l[1]\n"), 2U);
}

TEST(Simplify, LeavesListsThatChangeAsTheyAre) {
  for (const char* const body :
       {"    l = [x]\n    l.append(x + 1)\n    return l[1] - l[0]\n",
        "    l = [x, x + 1]\n    l[0] = x * 3\n    return l[0] + l[1]\n",
        "    l = [x, x + 1]\n    m = l\n    m.pop()\n    return (len(l), l[0])\n",
        "    l = [x, x + 1, x + 2]\n    return l[1:][0] + l[-1]\n",
        "    l = [x + 0]\n    l[0].add_(1)\n    return l[0]\n",
        "    l = [x, x + 1]\n    y = l[0] if bool(x.sum() > 0) else l[1]\n    return y\n"}) {
    operators_after(body);  // checks what is computed
  }
}

TEST(LiftAttributes, TensorsOfAllPlacesAreInputsOnce) {
  torch::manual_seed(5);
  torch::jit::Module module("__torch__.Lift");
  const at::Tensor shared = torch::randn({3});
  module.register_parameter("a", shared, false);
  module.register_parameter("same", shared, false);
  module.register_buffer("b", torch::randn({3}));
  module.register_attribute("many", c10::ListType::ofTensors(),
                            c10::List<at::Tensor>({torch::randn({3}), torch::randn({3})}));
  module.register_attribute("scale", c10::FloatType::get(), 1.5);
  module.define(
      "def forward(self, x):\n"
      "    return (x + self.a + self.same + self.b + self.many[0] - self.many[1]) * self.scale\n");
  auto graph = graph_of(module);
  const auto weights = lift_attributes(graph, module);
  ASSERT_TRUE(weights) << weights.error().message;
  EXPECT_EQ(graph->inputs().size(), 1 + weights->size()) << "self is gone";
  EXPECT_EQ(count(graph, "prim::GetAttr"), 0U);
  int of_dict = 0;
  for (const FlatWeight& weight : *weights) {
    EXPECT_EQ(weight.is_parameter, weight.tensor.equal(shared)) << weight.name;
    of_dict += weight.in_state_dict ? 1 : 0;
  }
  EXPECT_EQ(weights->size(), 4U);
  EXPECT_EQ(of_dict, 2) << "those of a list are in no state_dict";
  expect_same_when_flat(module, "3");
}

TEST(LiftConstants, LargeOnesTravelAsWeights) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::Value* const x = graph->addInput();
  const at::Tensor large = at::randn({64, 64});
  torch::jit::Value* const sum =
      graph->insert(c10::aten::add, {x, graph->insertConstant(large), graph->insertConstant(1)});
  graph->registerOutput(graph->insert(
      c10::aten::add, {sum, graph->insertConstant(at::ones({1})), graph->insertConstant(1)}));
  std::vector<FlatWeight> weights;
  lift_constants(*graph, weights);
  ASSERT_EQ(weights.size(), 1U);
  EXPECT_EQ(weights[0].name, "constants.0");
  EXPECT_TRUE(weights[0].tensor.equal(large));
  EXPECT_EQ(graph->inputs().size(), 2U);
  drop_unused_weights(*graph, weights);
  EXPECT_EQ(weights.size(), 1U) << "it is read";
}

TEST(DropUnusedWeights, KeepsTheOrderOfTheOthers) {
  auto graph = std::make_shared<torch::jit::Graph>();
  std::vector<FlatWeight> weights;
  std::vector<torch::jit::Value*> inputs{graph->addInput()};
  for (int i = 0; i < 5; ++i) {
    inputs.push_back(graph->addInput());
    weights.push_back({"w" + std::to_string(i), at::full({1}, i)});
  }
  graph->registerOutput(
      graph->insert(c10::aten::add, {inputs[2], inputs[5], graph->insertConstant(1)}));
  drop_unused_weights(*graph, weights);
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[0].name, "w1");
  EXPECT_EQ(weights[1].name, "w4");
  EXPECT_EQ(graph->inputs().size(), 3U) << "the model's own input stays";
}

}  // namespace
}  // namespace pareto::model
