// An engine's graph in pieces, run in any order that its dependencies allow.
#include "runtime/execution/operator_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/torch/compat.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Values = std::vector<c10::IValue>;

/// A graph of the plain engine, and its object.
struct PlainGraph {
  explicit PlainGraph(const std::string& code)
      : engine(builtin_engines()[0].prepare(test::written_module(code))),
        operators(engine.graph->copy()) {}

  Values run_whole(const at::Tensor& x) const {
    torch::jit::Stack stack{engine.self, x};
    torch::jit::InterpreterState(torch::jit::Code(engine.graph->copy(), "whole")).run(stack);
    return stack.back().toTupleRef().elements().vec();
  }

  /// Runs each operator as a graph of its own, in that order.
  Values run_apart(const at::Tensor& x, const std::vector<std::size_t>& order) const {
    Values values(operators.values());
    values[0] = engine.self;
    values[1] = x;
    const auto run = [&](const CutGraph& cut) {
      torch::jit::Stack stack;
      for (const std::size_t input : cut.inputs) stack.push_back(values[input]);
      torch::jit::InterpreterState(torch::jit::Code(cut.graph, "one")).run(stack);
      return stack;
    };
    for (const std::size_t op : order) {
      const CutGraph cut = operators.cut({op}, operators.made_by(op));
      const auto made = run(cut);
      EXPECT_EQ(made.size(), cut.outputs.size());
      for (std::size_t i = 0; i < made.size(); ++i) values[cut.outputs[i]] = made[i];
    }
    return run(operators.cut_result()).back().toTupleRef().elements().vec();
  }

  EngineGraph engine;
  OperatorGraph operators;
};

/// Returns any order in which operators come after those that they wait for.
std::vector<std::size_t> any_order(const schedules::WeightedGraph& graph, std::mt19937& random) {
  std::vector<std::size_t> order;
  std::vector<bool> done(graph.nodes.size());
  while (order.size() < done.size()) {
    std::vector<std::size_t> ready;
    for (std::size_t op = 0; op < done.size(); ++op) {
      const auto& after = graph.nodes[op].after;
      if (!done[op] && std::ranges::all_of(after, [&](std::size_t one) { return done[one]; })) {
        ready.push_back(op);
      }
    }
    order.push_back(ready[random() % ready.size()]);
    done[order.back()] = true;
  }
  return order;
}

/// Returns code of tensors [4, 4] that read, view and write each other.
std::string entangled_code(std::mt19937& random, int lines) {
  std::string code = "\ndef run(self, x):\n    t0 = x + 0\n";
  int made = 1;
  const auto any = [&] { return "t" + std::to_string(random() % made); };
  const auto add = [&](const std::string& expression) {
    code += "    t" + std::to_string(made++) + " = " + expression + "\n";
  };
  for (int line = 0; line < lines; ++line) {
    switch (random() % 11) {
      case 0:
        add(any() + " + " + any());
        break;
      case 1:
        add("torch.relu(" + any() + ")");
        break;
      case 2:
        add(any() + ".transpose(0, 1)");
        break;
      case 3:
        add(any() + ".view([4, 4])" + (random() % 2 == 0 ? "" : " * 0.5"));
        code.replace(code.rfind(".view"), 5, ".reshape");
        break;
      case 4:
        code += "    " + any() + ".add_(1.0)\n";
        break;
      case 5:
        code += "    " + any() + "[1].mul_(0.5)\n";
        break;
      case 6:
        add("torch.cat([" + any() + ", " + any() + "])[2:6]");
        break;
      case 7:
        code += "    l" + std::to_string(line) + " = [" + any() + "]\n    l" +
                std::to_string(line) + ".append(" + any() + ")\n";
        add("torch.stack(l" + std::to_string(line) + ").sum(0)");
        break;
      case 8:
        // These return the very tensor that they are given, which no schema says.
        add(random() % 2 == 0 ? "torch.dropout(" + any() + ", 0.5, False)"
                              : any() + ".type_as(" + any() + ")");
        break;
      case 9:
        code += "    " + any() + ".t_()\n";
        break;
      default:
        code += "    if bool(" + any() + ".sum() > 0):\n        ";
        code += any() + ".sub_(" + any() + " + 0)\n";
    }
  }
  code += "    return (";
  for (int i = 0; i < made; ++i) code += "t" + std::to_string(i) + ", ";
  return code + ")\n";
}

TEST(OperatorGraph, AnyOrderThatItAllowsGivesTheSameBits) {
  const c10::InferenceMode inference;
  std::mt19937 random(81);
  for (int round = 0; round < 40; ++round) {
    const std::string code = entangled_code(random, 12);
    const PlainGraph graph(code);
    at::manual_seed(round);
    const at::Tensor x = at::randn({4, 4});
    const Values expected = graph.run_whole(x);
    for (int turn = 0; turn < 4; ++turn) {
      const Values found = graph.run_apart(x, any_order(graph.operators.weighted(), random));
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(found[i].toTensor().equal(expected[i].toTensor()))
            << code << "result " << i << ", round " << round;
      }
    }
  }
}

TEST(OperatorGraph, AWriteToWhatASchemaCallsNewWaits) {
  for (const char* const name : {"torch.dropout(y, 0.5, False)", "y.type_as(x)"}) {
    const PlainGraph graph("def run(self, x):\n    y = x + 1\n    z = " + std::string(name) +
                           "\n    a = torch.relu(y)\n    b = torch.relu(x)\n    z.t_()\n" +
                           "    return (a, b, z)\n");
    const auto& nodes = graph.operators.weighted().nodes;
    ASSERT_EQ(nodes.size(), 5U);
    ASSERT_EQ(nodes[4].kind, "aten::t_");
    EXPECT_THAT(nodes[4].after, testing::IsSupersetOf({0, 1, 2})) << name;
  }
}

TEST(OperatorGraph, ConstantsAndListsThatNobodyWritesAreNone) {
  const PlainGraph graph(R"(
def run(self, x):
    a = torch.relu(x)
    return (torch.cat([a, x], 1), [a, x], 3)
)");
  ASSERT_EQ(graph.operators.size(), 2U);
  EXPECT_EQ(graph.operators.weighted().nodes[0].kind, "aten::relu");
  EXPECT_EQ(graph.operators.weighted().nodes[1].kind, "aten::cat");
  EXPECT_THAT(graph.operators.weighted().nodes[1].after, ElementsAre(0));
  const at::Tensor x = at::randn({2, 2});
  EXPECT_EQ(graph.run_apart(x, {0, 1})[2].toInt(), 3);
}

TEST(OperatorGraph, AListThatIsWrittenIsAnOperator) {
  const PlainGraph graph(R"(
def run(self, x):
    l = [x]
    l.append(x)
    return (l,)
)");
  ASSERT_EQ(graph.operators.size(), 2U);
  EXPECT_EQ(graph.operators.weighted().nodes[0].kind, "prim::ListConstruct");
  EXPECT_EQ(graph.run_apart(at::ones({1}), {0, 1})[0].toTensorVector().size(), 2U);
}

TEST(OperatorGraph, RandomOperatorsKeepTheirOrder) {
  const PlainGraph graph(R"(
def run(self, x):
    a = torch.rand([2])
    b = torch.relu(x)
    if bool(x.sum() > 0):
        b = torch.rand([2])
    return (a, b, torch.rand([2]))
)");
  const auto& nodes = graph.operators.weighted().nodes;
  std::vector<std::size_t> random;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == "aten::rand" || nodes[i].kind == "prim::If") random.push_back(i);
  }
  ASSERT_EQ(random.size(), 3U);
  EXPECT_THAT(nodes[random[1]].after, testing::Contains(random[0]));
  EXPECT_THAT(nodes[random[2]].after, testing::Contains(random[1]));
}

TEST(OperatorGraph, ValuesAreNumberedFromTheInputsOn) {
  const PlainGraph graph("def run(self, x):\n    a, b = x.chunk(2)\n    return (a + b,)\n");
  const OperatorGraph& operators = graph.operators;
  EXPECT_EQ(operators.first_made(), 2U);
  std::size_t next = operators.first_made();
  for (std::size_t op = 0; op < operators.size(); ++op) {
    for (const std::size_t value : operators.made_by(op)) {
      EXPECT_EQ(value, next++);
      EXPECT_EQ(operators.maker(value), op);
    }
  }
  EXPECT_EQ(operators.values(), next);
}

TEST(OperatorGraph, ACutOfSeveralTakesWhatIsMadeOutside) {
  const PlainGraph graph(R"(
def run(self, x):
    a = torch.relu(x)
    b = a + 1
    c = b * a
    return (c - x,)
)");
  ASSERT_EQ(graph.operators.size(), 4U);
  const CutGraph middle = graph.operators.cut({1, 2}, graph.operators.made_by(2));
  EXPECT_THAT(middle.inputs, ElementsAre(graph.operators.made_by(0)[0]));
  EXPECT_EQ(middle.graph->outputs().size(), 1U);
  const CutGraph nothing = graph.operators.cut({}, {});
  EXPECT_THAT(nothing.inputs, IsEmpty());
  EXPECT_EQ(nothing.graph->outputs().size(), 0U);
  EXPECT_THAT(graph.operators.cut_result().inputs, ElementsAre(graph.operators.made_by(3)[0]));
}

TEST(OperatorGraph, AShardThatComputesNothingHasNoOperators) {
  const PlainGraph graph("def run(self, x):\n    return (x,)\n");
  EXPECT_EQ(graph.operators.size(), 0U);
  EXPECT_THAT(graph.operators.weighted().nodes, IsEmpty());
  const at::Tensor x = at::ones({2});
  EXPECT_TRUE(graph.run_apart(x, {})[0].toTensor().is_same(x));
}

}  // namespace
}  // namespace pareto::runtime
