// Graphs run operator by operator, against LibTorch's interpreter.
#include "partitioner/model/graph/graph_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::graph_of;
using test::interpreted;
using test::scripted;

/// Every kind of node that a graph may hold.
const std::vector<std::string>& bodies() {
  static const std::vector<std::string> kBodies{
      "    return torch.relu(x) + y\n",
      "    return (x, [y, x], {\"a\": x + y, \"b\": y})\n",
      "    s = x\n    for i in range(4):\n        s = s * 0.5 + y + i\n    return s\n",
      "    s = x\n    n = 0\n    while bool(s.sum() < 40) and n < 9:\n        s = s + y.abs() + 1\n"
      "        n += 1\n    return (s, n)\n",
      "    if bool(x.sum() > 0):\n        z = x - 1\n    else:\n        z = y * 2\n    return z\n",
      "    z = []\n    for i in range(3):\n        if i != 1:\n            z.append(x * i)\n"
      "    return torch.cat(z, 0)\n",
      "    a, b = torch.chunk(x, 2, 1)\n    return (b, a.size(), b.dim(), 1.5, \"text\", None)\n",
      "    z = x + 0\n    z[0].add_(y[0])\n    return z\n",
      "    t = (x, y)\n    p, q = t\n    return (q, p, len([1, 2, 3]))\n"};
  return kBodies;
}

TEST(GraphRunner, ComputesWhatTheInterpreterDoes) {
  at::manual_seed(1);
  for (const std::string& body : bodies()) {
    const auto module = scripted("Runner", "\ndef forward(self, x, y):\n" + body);
    const auto graph = graph_of(module);
    GraphRunner runner(graph);
    // The second time round all steps are known.
    for (int run = 0; run < 2; ++run) {
      const at::Tensor x = at::randn({4, 6});
      const at::Tensor y = at::randn({4, 6});
      const auto expected = interpreted(graph, module, {x.clone(), y.clone()});
      const auto outputs = runner.run({module._ivalue(), x.clone(), y.clone()}, {});
      ASSERT_EQ(outputs.size(), 1U);
      const auto found = runtime::from_ivalue(outputs[0]);
      const auto wanted = runtime::from_ivalue(expected);
      ASSERT_TRUE(found && wanted) << body;
      EXPECT_TRUE(bit_equal(*found, *wanted)) << body;
    }
  }
}

TEST(GraphRunner, ShowsEachOperatorAsItRuns) {
  const auto module = scripted("Runner", R"(
def forward(self, x):
    y = x + 1
    for i in range(3):
        y = y * 2
    return torch.relu(y)
)");
  const auto graph = graph_of(module);
  std::vector<std::pair<std::size_t, std::string>> seen;
  GraphRunner runner(graph);
  runner.run({module._ivalue(), at::ones({2})},
             [&](std::size_t position, torch::jit::Node* node, std::span<const c10::IValue>,
                 std::span<const c10::IValue> outputs) {
               seen.emplace_back(position, node->kind().toUnqualString());
               EXPECT_EQ(outputs.size(), node->outputs().size());
             });
  using Seen = std::pair<std::size_t, std::string>;
  EXPECT_THAT(seen, testing::ElementsAre(Seen{0, "add"}, Seen{1, "mul"}, Seen{1, "mul"},
                                         Seen{1, "mul"}, Seen{1, "Loop"}, Seen{2, "relu"}));
}

TEST(GraphRunner, DropsValuesAfterTheirLastUse) {
  const auto module = scripted("Runner", R"(
def forward(self, x):
    y = x + 1
    z = torch.relu(y)
    return torch.sigmoid(z) + z
)");
  const auto graph = graph_of(module);
  std::vector<c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>> made;
  std::vector<bool> first_alive;
  GraphRunner runner(graph);
  runner.run({module._ivalue(), at::ones({2})},
             [&](std::size_t, torch::jit::Node*, std::span<const c10::IValue>,
                 std::span<const c10::IValue> outputs) {
               made.emplace_back(outputs[0].toTensor().getIntrusivePtr());
               first_alive.push_back(!made[0].expired());
             });
  // y is read by relu, and no more after it.
  EXPECT_THAT(first_alive, testing::ElementsAre(true, true, false, false));
  EXPECT_TRUE(std::ranges::all_of(made, [](const auto& value) { return value.expired(); }));
}

TEST(GraphRunner, GoesOnAfterAnOperatorThatFailed) {
  const auto module = scripted("Runner", "\ndef forward(self, x, y):\n    return (x + 1) + y\n");
  GraphRunner runner(graph_of(module));
  EXPECT_ANY_THROW(runner.run({module._ivalue(), at::ones({2}), at::ones({3})}, {}));
  EXPECT_ANY_THROW(runner.run({module._ivalue(), at::ones({2})}, {})) << "an input is missing";
  const auto outputs = runner.run({module._ivalue(), at::ones({2}), at::ones({2})}, {});
  EXPECT_TRUE(outputs.at(0).toTensor().equal(at::full({2}, 3)));
}

}  // namespace
}  // namespace pareto::model
