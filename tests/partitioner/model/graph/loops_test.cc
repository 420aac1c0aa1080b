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

/// The loops of a method that have a constant number of steps, and those numbers.
std::vector<std::int64_t> steps_in(const std::string& body) {
  const auto graph = graph_of(scripted("Loops", "\ndef forward(self, x):\n" + body));
  std::vector<std::int64_t> steps;
  for (torch::jit::Node* loop : nodes_of_kind(graph->block(), c10::prim::Loop)) {
    if (const auto known = constant_steps(loop)) steps.push_back(*known);
  }
  return steps;
}

TEST(Loops, WithAConstantNumberOfStepsAreKnown) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(steps_in("    for i in range(7):\n        x = x + i\n    return x\n"),
              ElementsAre(7));
  EXPECT_THAT(steps_in("    for i in range(0):\n        x = x + i\n    return x\n"), IsEmpty())
      << "LibTorch's compiler takes away what never runs";
  EXPECT_THAT(steps_in("    for i in range(x.size(0)):\n        x = x + i\n    return x\n"),
              IsEmpty());
  EXPECT_THAT(steps_in("    while bool(x.sum() > 0):\n        x = x - 1\n    return x\n"),
              IsEmpty());
  EXPECT_THAT(steps_in("    for i in range(7):\n        if bool(x.sum() > 3):\n            break\n"
                       "        x = x + 1\n    return x\n"),
              IsEmpty());
  EXPECT_THAT(steps_in("    for i in range(2):\n        for j in range(3):\n"
                       "            x = x * j + i\n    return x\n"),
              ElementsAre(2, 3));
}

TEST(Loops, UnrolledComputeTheSame) {
  for (const char* const body :
       {"    for i in range(5):\n        x = x * 0.5 + i\n    return x\n",
        "    for i in range(0):\n        x = x * 0.5 + i\n    return x\n",
        "    for i in range(1):\n        x = x * 0.5 + i\n    return x\n",
        "    y = [x]\n    for i in range(4):\n        y.append(y[i] + i)\n"
        "    return torch.cat(y, 0)\n",
        "    for i in range(3):\n        for j in range(2):\n            x = x + i * j\n"
        "    return x\n",
        "    for i in range(100):\n        x = x * 0.5 + i\n    return x\n"}) {
    const auto module = scripted("Loops", "\ndef forward(self, x):\n" + std::string(body));
    auto graph = graph_of(module);
    unroll_loops(graph);
    // LibTorch unrolls loops of 64 steps and more eight at a time, and others whole.
    EXPECT_EQ(count(graph, "prim::Loop") > 0, std::string(body).find("100") != std::string::npos)
        << body;
    const at::Tensor x = at::randn({2, 3});
    EXPECT_TRUE(interpreted(graph, module, {x.clone()})
                    .toTensor()
                    .equal(interpreted(graph_of(module), module, {x.clone()}).toTensor()))
        << body;
  }
}

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

TEST(Loops, OfWhichAStepIsLeftEarlyComputeTheSame) {
  const auto module = scripted("Loops", R"(
def forward(self, x):
    for i in range(3):
        if i == 1:
            continue
        x = x + i
    return x
)");
  auto graph = graph_of(module);
  simplify(graph);
  const at::Tensor x = at::randn({2, 3});
  EXPECT_TRUE(interpreted(graph, module, {x}).toTensor().equal(x + 2));
}

TEST(Loops, ManyShortOnesAreUnrolledUpToALimit) {
  constexpr std::size_t kLoops = 100;
  std::string code = "\ndef forward(self, x):\n";
  for (std::size_t i = 0; i < kLoops; ++i) {
    code += "    for i in range(60):\n        x = x + 1\n";
  }
  const auto module = scripted("Loops", code + "    return x\n");
  auto graph = graph_of(module);
  unroll_loops(graph);
  const std::size_t left = count(graph, "prim::Loop");
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, kLoops);
  EXPECT_LE(count(graph, "aten::add"), static_cast<std::size_t>(kMostUnrolled) + kLoops);
  EXPECT_TRUE(interpreted(graph, module, {at::zeros({1})}).toTensor().equal(at::full({1}, 6000)));
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
