// Numbers that a tracer wrote as tensors of no dimensions.
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::graph_of;
using test::interpreted;
using test::scripted;

TEST(PythonNumbers, DoNotDecideTheTypeOfAResult) {
  const auto module = scripted("Numbers", "\ndef forward(self, x):\n    return x + 1\n");
  const auto graph = graph_of(module);
  // As a tracer writes it: the number as a tensor of no dimensions.
  torch::jit::Node* const add =
      nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::add")).at(0);
  {
    const torch::jit::WithInsertPoint here(add);
    add->replaceInput(1, graph->insertConstant(at::scalar_tensor(2.5, at::kDouble)));
  }
  use_numbers(*graph);
  torch::jit::Node* const fresh =
      nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::add")).at(0);
  const auto number = torch::jit::toIValue(fresh->input(1));
  ASSERT_TRUE(number);
  EXPECT_EQ(number->toDouble(), 2.5);
  const at::Tensor half = at::ones({2}, at::kBFloat16);
  EXPECT_EQ(interpreted(graph, module, {half}).toTensor().scalar_type(), at::kBFloat16);
}

TEST(PythonNumbers, AreNoTensorsOfOneElement) {
  const auto module = scripted("Numbers", "\ndef forward(self, x):\n    return x + 1\n");
  for (const at::Tensor& tensor : {at::ones({1}), at::scalar_tensor(true, at::kBool)}) {
    const auto graph = graph_of(module);
    torch::jit::Node* const add =
        nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::add")).at(0);
    const torch::jit::WithInsertPoint here(add);
    add->replaceInput(1, graph->insertConstant(tensor));
    use_numbers(*graph);
    torch::jit::Node* const left =
        nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::add")).at(0);
    EXPECT_TRUE(torch::jit::toIValue(left->input(1))->isTensor()) << tensor.sizes();
  }
}

/// Returns a graph of "x OPERATOR number" with the number as that tensor, and its module.
std::pair<test::GraphPtr, torch::jit::Module> traced_number(const std::string& sign,
                                                            const at::Tensor& number) {
  auto module = scripted("Numbers", "\ndef forward(self, x):\n    return x " + sign + " 1\n");
  const auto graph = graph_of(module);
  for (torch::jit::Node* const node : operators_of(*graph)) {
    const torch::jit::WithInsertPoint here(node);
    node->replaceInput(1, graph->insertConstant(number));
    set_scope_path(node, "head.scale");
  }
  return {graph, module};
}

TEST(PythonNumbers, OfFourOperatorsComputeTheSameInEveryFloatingType) {
  for (const char* const sign : {"+", "-", "*", "/"}) {
    for (const auto type : {at::kInt, at::kLong, at::kFloat, at::kDouble, at::kBFloat16}) {
      const at::Tensor number = at::scalar_tensor(3, type);
      const auto [graph, module] = traced_number(sign, number);
      use_numbers(*graph);
      for (const auto input : {at::kFloat, at::kBFloat16, at::kDouble}) {
        const at::Tensor x = at::arange(1, 5).to(input);
        const at::Tensor found = interpreted(graph, module, {x}).toTensor();
        // As PyTorch computes with a tensor of no dimensions.
        const at::Tensor expected = *sign == '+'   ? x + number
                                    : *sign == '-' ? x - number
                                    : *sign == '*' ? x * number
                                                   : x / number;
        EXPECT_EQ(found.scalar_type(), expected.scalar_type()) << sign << type << input;
        EXPECT_TRUE(found.allclose(expected)) << sign << type << input;
      }
    }
  }
}

TEST(PythonNumbers, KeepTheModulePathOfTheirOperator) {
  const auto [graph, module] = traced_number("*", at::scalar_tensor(2.0));
  use_numbers(*graph);
  const auto operators = operators_of(*graph);
  ASSERT_EQ(operators.size(), 1U);
  EXPECT_TRUE(torch::jit::toIValue(operators[0]->input(1))->isDouble());
  EXPECT_EQ(scope_path(operators[0]), "head.scale");
}

TEST(PythonNumbers, AreNotTakenOfWhatHasDimensionsOrIsComplex) {
  for (const at::Tensor& number :
       {at::ones({1, 1}), at::ones({0}),
        at::scalar_tensor(c10::complex<float>(1, 1), at::kComplexFloat)}) {
    const auto [graph, module] = traced_number("*", number);
    use_numbers(*graph);
    EXPECT_TRUE(torch::jit::toIValue(operators_of(*graph)[0]->input(1))->isTensor());
  }
}

TEST(PythonNumbers, InBlocksAreTakenToo) {
  const auto module = scripted("Numbers",
                               "\ndef forward(self, x):\n"
                               "    if bool(x.sum() > 0):\n        x = x * 2\n    return x\n");
  const auto graph = graph_of(module);
  torch::jit::Node* const product =
      nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::mul")).at(0);
  {
    const torch::jit::WithInsertPoint here(product);
    product->replaceInput(1, graph->insertConstant(at::scalar_tensor(3, at::kLong)));
  }
  use_numbers(*graph);
  torch::jit::Node* const fresh =
      nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::mul")).at(0);
  EXPECT_TRUE(torch::jit::toIValue(fresh->input(1))->isInt());
  EXPECT_TRUE(interpreted(graph, module, {at::ones({2})}).toTensor().equal(at::full({2}, 3.0)));
}

}  // namespace
}  // namespace pareto::model
