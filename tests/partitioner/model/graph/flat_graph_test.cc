#include "partitioner/model/graph/flat_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::graph_of;
using test::scripted;
using testing::ElementsAre;

std::vector<std::string> debug_names_of(const std::vector<torch::jit::Value*>& values) {
  std::vector<std::string> names;
  for (const torch::jit::Value* value : values) {
    names.push_back(value->debugName().substr(0, value->debugName().find('.')));
  }
  return names;
}

TEST(OuterInputs, AreThoseReadInBlocksTooEachOnce) {
  const auto module = scripted("Branches", R"(
def forward(self, x, y, flag: bool):
    if flag:
        z = x + y
        w = z * x
    else:
        w = y - x
    return w
)");
  const auto graph = graph_of(module);
  const auto branches = nodes_of_kind(graph->block(), c10::prim::If);
  ASSERT_EQ(branches.size(), 1U);
  std::vector<torch::jit::Value*> read = outer_inputs(branches[0]);
  std::erase_if(read, [](const torch::jit::Value* value) { return is_constant(value); });
  EXPECT_THAT(debug_names_of(read), ElementsAre("flag", "x", "y")) << "not z, which is made inside";
}

TEST(OperatorsOf, AreAllButConstants) {
  const auto graph = graph_of(scripted("Row", R"(
def forward(self, x):
    return torch.relu(x * 2 + 1)
)"));
  std::vector<std::string> kinds;
  for (torch::jit::Node* node : operators_of(*graph))
    kinds.emplace_back(node->kind().toQualString());
  EXPECT_THAT(kinds, ElementsAre("aten::mul", "aten::add", "aten::relu"));
}

TEST(ScopePath, IsWhatWasSetInsideBlocksToo) {
  const auto graph = graph_of(scripted("Scoped", R"(
def forward(self, x, flag: bool):
    if flag:
        x = torch.relu(x)
    return x
)"));
  torch::jit::Node* branch = nodes_of_kind(graph->block(), c10::prim::If).at(0);
  EXPECT_EQ(scope_path(branch), "");
  set_scope_path(branch, "features.5.conv.0.0");
  EXPECT_EQ(scope_path(branch), "features.5.conv.0.0");
  EXPECT_EQ(scope_path(nodes_of_kind(graph->block(), c10::aten::relu).at(0)),
            "features.5.conv.0.0");
  set_scope_path(branch, "");
  EXPECT_EQ(scope_path(branch), "");
}

TEST(GraphCutting, TwoHalvesComputeTheWhole) {
  const auto module = scripted("Whole", R"(
def forward(self, x, y):
    a = torch.relu(x)
    b = a * 2 + y
    return torch.sigmoid(b) - a
)");
  const auto graph = graph_of(module);
  const auto operators = operators_of(*graph);
  for (std::size_t cut = 1; cut < operators.size(); ++cut) {
    GraphCut front;
    for (std::size_t i = 1; i < graph->inputs().size(); ++i) front.add_input(graph->inputs()[i]);
    for (std::size_t i = 0; i < cut; ++i) front.add_node(operators[i]);
    // What the back reads of the front and of the inputs.
    std::vector<torch::jit::Value*> crossing;
    for (std::size_t i = cut; i < operators.size(); ++i) {
      for (torch::jit::Value* value : outer_inputs(operators[i])) {
        const auto made_by = std::ranges::find(operators, value->node());
        const bool made_behind =
            made_by != operators.end() && made_by - operators.begin() >= static_cast<long>(cut);
        if (!is_constant(value) && !made_behind && std::ranges::count(crossing, value) == 0) {
          crossing.push_back(value);
        }
      }
    }
    for (torch::jit::Value* value : crossing) front.graph()->registerOutput(front.get(value));
    GraphCut back;
    for (torch::jit::Value* value : crossing) back.add_input(value);
    for (std::size_t i = cut; i < operators.size(); ++i) back.add_node(operators[i]);
    back.graph()->registerOutput(back.get(graph->outputs()[0]));

    const at::Tensor x = at::randn({3});
    const at::Tensor y = at::randn({3});
    torch::jit::Stack stack{x, y};
    torch::jit::InterpreterState(torch::jit::Code(front.graph(), "front")).run(stack);
    torch::jit::InterpreterState(torch::jit::Code(back.graph(), "back")).run(stack);
    const at::Tensor a = at::relu(x);
    EXPECT_TRUE(stack.back().toTensor().equal(at::sigmoid(a * 2 + y) - a)) << "cut at " << cut;
  }
}

TEST(GraphCutting, AValueThatWasNotMadeIsRefused) {
  const auto graph = graph_of(scripted("Late", R"(
def forward(self, x):
    return torch.sigmoid(torch.relu(x))
)"));
  GraphCut part;
  EXPECT_ANY_THROW(part.add_node(operators_of(*graph).at(1)));
}

}  // namespace
}  // namespace pareto::model
