// Objects that a method makes and uses up, against the module as LibTorch runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::count;

/// A module whose forward may name `Pair`, a class of two tensors with a method.
torch::jit::Module with_pair(const std::string& body) {
  auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module module("__torch__.Objects", unit);
  const auto pair = c10::ClassType::create(c10::QualifiedName("__torch__.Pair"), unit);
  pair->addAttribute("a", c10::TensorType::get());
  pair->addAttribute("b", c10::TensorType::get());
  unit->register_type(pair);
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(body);
  return module;
}

/// The same with a graph written by hand: makes an object, sets both attributes, reads them back.
std::shared_ptr<torch::jit::Graph> made_and_read(const torch::jit::Module& module, bool returned) {
  const auto pair =
      module._ivalue()->compilation_unit()->get_class(c10::QualifiedName("__torch__.Pair"));
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::Value* const self = graph->addInput();
  self->setType(module.type());
  torch::jit::Value* const x = graph->addInput();
  torch::jit::Value* const object = graph->insertNode(graph->createObject(pair))->output();
  torch::jit::Value* const sum = graph->insert(c10::aten::add, {x, x});
  graph->insertNode(graph->createSetAttr(object, "a", x));
  graph->insertNode(graph->createSetAttr(object, "b", sum));
  torch::jit::Value* const a = graph->insertGetAttr(object, "a");
  torch::jit::Value* const b = graph->insertGetAttr(object, "b");
  graph->registerOutput(returned ? object : graph->insert(c10::aten::mul, {a, b}));
  return graph;
}

TEST(Objects, ThatAreUsedUpAreTheValuesOfTheirAttributes) {
  auto module = with_pair("def forward(self, x):\n    return x\n");
  const auto graph = made_and_read(module, /*returned=*/false);
  scatter_objects(*graph);
  EXPECT_EQ(count(graph, "prim::CreateObject"), 0U);
  EXPECT_EQ(count(graph, "prim::SetAttr"), 0U);
  EXPECT_EQ(count(graph, "prim::GetAttr"), 0U);
  EXPECT_TRUE(check_no_objects(*graph));
  const at::Tensor x = at::randn({3});
  EXPECT_TRUE(test::interpreted(graph, module, {x}).toTensor().equal(x * (x + x)));
}

TEST(Objects, ThatLeaveTheGraphAreNamed) {
  auto module = with_pair("def forward(self, x):\n    return x\n");
  const auto graph = made_and_read(module, /*returned=*/true);
  scatter_objects(*graph);
  const auto checked = check_no_objects(*graph);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(checked.error().message, testing::HasSubstr("Pair"));
}

TEST(FlatGraph, OuterInputsAreWhatBlocksReadToo) {
  auto module = test::scripted("Outer", R"(
def forward(self, x, y, z):
    if bool(x.sum() > 0):
        for i in range(z.size(0)):
            x = x + y
    return x
)");
  const auto graph = test::graph_of(module);
  torch::jit::Node* const branch = nodes_of_kind(graph->block(), c10::prim::If).at(0);
  std::set<std::string> names;
  for (torch::jit::Value* value : outer_inputs(branch)) {
    if (value->node() == graph->param_node()) names.insert(value->debugNameBase());
  }
  EXPECT_THAT(names, testing::ElementsAre("x", "y", "z"));
}

TEST(FlatGraph, PathsAreGivenToAllInside) {
  auto module = test::scripted("Paths", R"(
def forward(self, x):
    for i in range(x.size(0)):
        x = torch.relu(x)
    return x
)");
  const auto graph = test::graph_of(module);
  torch::jit::Node* const loop = nodes_of_kind(graph->block(), c10::prim::Loop).at(0);
  set_scope_path(loop, "features.7.conv");
  EXPECT_EQ(scope_path(loop), "features.7.conv");
  for_each_node(loop->blocks()[0],
                [](torch::jit::Node* node) { EXPECT_EQ(scope_path(node), "features.7.conv"); });
}

TEST(FlatGraph, APartComputesWhatItDidInTheWhole) {
  auto module = test::scripted("Part", R"(
def forward(self, x, y):
    a = x * 2 + 1
    b = torch.relu(a) - y
    return b * a
)");
  const auto graph = test::graph_of(module);
  const auto nodes = operators_of(*graph);
  ASSERT_EQ(nodes.size(), 5U);
  GraphCut front;
  GraphCut back;
  for (std::size_t i = 1; i < 3; ++i) front.add_input(graph->inputs()[i]);
  for (std::size_t i = 0; i < 2; ++i) front.add_node(nodes[i]);
  front.graph()->registerOutput(front.get(nodes[1]->output()));
  back.add_input(nodes[1]->output());
  back.add_input(graph->inputs()[2]);
  for (std::size_t i = 2; i < 5; ++i) back.add_node(nodes[i]);
  back.graph()->registerOutput(back.get(nodes[4]->output()));
  const at::Tensor x = at::randn({4});
  const at::Tensor y = at::randn({4});
  torch::jit::Stack stack{x, y};
  torch::jit::InterpreterState(torch::jit::Code(front.graph(), "front")).run(stack);
  torch::jit::Stack rest{stack.back(), y};
  torch::jit::InterpreterState(torch::jit::Code(back.graph(), "back")).run(rest);
  EXPECT_TRUE(rest.back().toTensor().equal(module.forward({x, y}).toTensor()));
  // What has neither been added nor copied cannot be read.
  GraphCut lacking;
  EXPECT_ANY_THROW(lacking.add_node(nodes[3]));
}

}  // namespace
}  // namespace pareto::model
