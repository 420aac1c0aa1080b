#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::graph_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// A module with those tensors as parameters, and a forward.
torch::jit::Module with_parameters(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                                   const std::string& code) {
  torch::jit::Module module("__torch__.Lifted");
  module.register_attribute("training", c10::BoolType::get(), false);
  for (const auto& [name, tensor] : tensors) module.register_parameter(name, tensor, false);
  module.define(code);
  return module;
}

std::vector<std::string> names_of(const std::vector<FlatWeight>& weights) {
  std::vector<std::string> names;
  for (const FlatWeight& weight : weights) names.push_back(weight.name);
  return names;
}

/// Runs a graph whose weights are inputs.
at::Tensor computed(const test::GraphPtr& graph, const at::Tensor& x,
                    const std::vector<FlatWeight>& weights) {
  torch::jit::Stack stack{x};
  for (const FlatWeight& weight : weights) stack.emplace_back(weight.tensor);
  torch::jit::InterpreterState(torch::jit::Code(graph, "lifted")).run(stack);
  return stack.back().toTensor();
}

TEST(LiftAttributes, MakesOneInputOfATensorHoweverManyNamesItHas) {
  const at::Tensor shared = at::randn({3});
  const auto module = with_parameters({{"a", shared}, {"b", shared}, {"c", at::randn({3})}}, R"(
def forward(self, x):
    return x * self.a + self.b * self.c + self.a
)");
  auto graph = graph_of(module);
  const auto weights = lift_attributes(graph, module);
  ASSERT_TRUE(weights) << weights.error().message;
  EXPECT_EQ(weights->size(), 2U);
  EXPECT_EQ(graph->inputs().size(), 3U) << "x and the two; self is gone";
  const at::Tensor x = at::randn({2, 3});
  const at::Tensor c = module.attr("c").toTensor();
  EXPECT_TRUE(computed(graph, x, *weights).equal(x * shared + shared * c + shared));
}

TEST(LiftAttributes, TensorsOfListsAreWeightsAndNumbersAreConstants) {
  torch::jit::Module module("__torch__.Listed");
  module.register_attribute("training", c10::BoolType::get(), false);
  c10::List<at::Tensor> parts;
  parts.push_back(at::full({2}, 3.0));
  parts.push_back(at::full({2}, 5.0));
  module.register_attribute("parts", c10::ListType::create(c10::TensorType::get()), parts);
  module.register_attribute("factor", c10::FloatType::get(), 2.0);
  module.define(R"(
def forward(self, x):
    return (x + self.parts[0] - self.parts[1]) * self.factor
)");
  auto graph = graph_of(module);
  const auto weights = lift_attributes(graph, module);
  ASSERT_TRUE(weights) << weights.error().message;
  ASSERT_EQ(weights->size(), 2U);
  for (const FlatWeight& weight : *weights) EXPECT_FALSE(weight.in_state_dict) << weight.name;
  const at::Tensor x = at::randn({4, 2});
  EXPECT_TRUE(computed(graph, x, *weights).equal((x + 3.0 - 5.0) * 2.0));
}

TEST(LiftAttributes, AnAttributeThatIsSetIsRefusedByName) {
  torch::jit::Module module("__torch__.Counting");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_attribute("calls", c10::IntType::get(), 0);
  module.define(R"(
def forward(self, x):
    self.calls = self.calls + 1
    return x * self.calls
)");
  auto graph = graph_of(module);
  const auto weights = lift_attributes(graph, module);
  ASSERT_FALSE(weights);
  EXPECT_EQ(weights.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(weights.error().message, HasSubstr("sets its attribute calls"));
}

TEST(LiftConstants, OnlyLargeOnesBecomeWeights) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::Value* sum = graph->addInput("x");
  for (const std::int64_t size : {2, 400}) {
    torch::jit::Value* constant = graph->insertConstant(at::full({size == 2 ? 1 : size}, 1.5));
    sum = graph->insert(c10::aten::add, {sum, constant});
  }
  graph->registerOutput(sum);
  std::vector<FlatWeight> weights;
  lift_constants(*graph, weights);
  ASSERT_THAT(names_of(weights), ElementsAre("constants.0"));
  EXPECT_EQ(weights[0].tensor.numel(), 400);
  EXPECT_FALSE(weights[0].in_state_dict);
  ASSERT_EQ(graph->inputs().size(), 2U);
  const at::Tensor x = at::randn({400});
  EXPECT_TRUE(computed(graph, x, weights).equal(x + 1.5 + 1.5));
}

}  // namespace
}  // namespace pareto::model
