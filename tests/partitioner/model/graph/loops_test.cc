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

TEST(Loops, TooLongToUnrollStayWhole) {
  const auto module = scripted("Loops", R"(
def forward(self, x):
    for i in range(20000):
        x = x * 0.5
    for j in range(3):
        x = x + j
    return x
)");
  auto graph = graph_of(module);
  const std::size_t inputs = graph->inputs().size();
  unroll_loops(graph);
  EXPECT_EQ(count(graph, "prim::Loop"), 1U) << "the short one is unrolled";
  EXPECT_EQ(graph->inputs().size(), inputs) << "as before";
  torch::jit::Node* const loop = nodes_of_kind(graph->block(), c10::prim::Loop).at(0);
  EXPECT_EQ(constant_steps(loop), 20000) << "as before";
  EXPECT_TRUE(interpreted(graph, module, {at::ones({1})}).toTensor().equal(at::full({1}, 3)));
}

TEST(Loops, OfAModelThatIsOpenedComputeTheSame) {
  expect_same_when_flat(scripted("Loops", R"(
def forward(self, x):
    y = []
    for i in range(3):
        y.append(torch.relu(x) * i)
    n = 0
    while n < 4:
        x = x + n
        n += 2
    for row in y:
        x = x - row
    return x, torch.stack(y, 1)
)"),
                        "4x3");
}

}  // namespace
}  // namespace pareto::model
