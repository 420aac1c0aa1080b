#include "partitioner/model/graph/graph_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::scripted;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Flat flat_to_build(const torch::jit::Module& module) {
  const test::Files files;
  auto flat = read_model(files.save(module, "model"));
  EXPECT_TRUE(flat) << flat.error().message;
  return std::move(flat).value();
}

Flat flat_to_build(const std::string& code) { return flat_to_build(scripted("Built", code)); }

TEST(BuildGraph, ValuesKnowWhoMakesAndReadsThem) {
  const auto graph = build_graph(flat_to_build(R"(
def forward(self, x, y):
    a = torch.relu(x)
    b = a + y
    c = a * b
    return c
)"));
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->operators.size(), 3U);
  EXPECT_THAT(graph->inputs, ElementsAre(0, 1));
  const auto value_of = [&](std::size_t op) -> const GraphValue& {
    return graph->values[static_cast<std::size_t>(graph->operators[op].outputs[0])];
  };
  EXPECT_EQ(graph->values[0].producer, -1);
  EXPECT_THAT(graph->values[0].users, ElementsAre(0));
  EXPECT_THAT(graph->values[1].users, ElementsAre(1));
  EXPECT_EQ(value_of(0).producer, 0);
  EXPECT_THAT(value_of(0).users, ElementsAre(1, 2));
  EXPECT_FALSE(value_of(0).is_output);
  EXPECT_TRUE(value_of(2).is_output);
  EXPECT_THAT(value_of(2).users, IsEmpty());
  EXPECT_THAT(graph->outputs, ElementsAre(graph->operators[2].outputs[0]));
}

TEST(BuildGraph, EveryNumberLeadsBack) {
  const auto graph = build_graph(flat_to_build(R"(
def forward(self, x):
    y = x
    for i in range(4):
        a, b = y.chunk(2, 1)
        y = torch.cat([b * i, a, b], 1)[:, :8]
    if bool(y.sum() > 0):
        y = y + x
    return y, x
)"));
  ASSERT_TRUE(graph) << graph.error().message;
  for (std::size_t op = 0; op < graph->operators.size(); ++op) {
    for (const std::int64_t output : graph->operators[op].outputs) {
      EXPECT_EQ(graph->values[static_cast<std::size_t>(output)].producer,
                static_cast<std::int64_t>(op));
    }
    for (const std::int64_t input : graph->operators[op].inputs) {
      const GraphValue& value = graph->values[static_cast<std::size_t>(input)];
      EXPECT_LT(value.producer, static_cast<std::int64_t>(op)) << "makers come first";
      EXPECT_THAT(value.users, testing::Contains(static_cast<std::int64_t>(op)));
    }
  }
  for (const GraphValue& value : graph->values) {
    EXPECT_TRUE(std::ranges::is_sorted(value.users)) << value.name;
    EXPECT_EQ(std::ranges::adjacent_find(value.users), value.users.end()) << "each user once";
  }
}

TEST(BuildGraph, ABranchIsOneOperatorThatReadsWhatItsBlocksRead) {
  const auto graph = build_graph(flat_to_build(R"(
def forward(self, x, y):
    if bool(x.sum() > 0):
        x = x + y
        x = torch.relu(x)
    return x * 2
)"));
  ASSERT_TRUE(graph) << graph.error().message;
  const auto branch = std::ranges::find(graph->operators, "prim::If", &Operator::kind);
  ASSERT_NE(branch, graph->operators.end());
  EXPECT_EQ(branch->inner_operators, 2);
  EXPECT_THAT(branch->inputs, testing::IsSupersetOf({0, 1}));
}

TEST(BuildGraph, RandomOperatorsAreKnownInBlocksToo) {
  const auto graph = build_graph(flat_to_build(R"(
def forward(self, x):
    if bool(x.sum() > 0):
        x = x + torch.rand([1])
    y = torch.relu(x)
    return torch.bernoulli(torch.sigmoid(y))
)"));
  ASSERT_TRUE(graph) << graph.error().message;
  for (const Operator& op : graph->operators) {
    const bool draws = op.kind == "prim::If" || op.kind == "aten::bernoulli";
    EXPECT_EQ(op.is_random, draws) << op.kind;
    EXPECT_TRUE(!draws || op.uses_random) << op.kind;
  }
  EXPECT_TRUE(draws_random_numbers(*graph));
}

TEST(BuildGraph, WeightsAreCountedOnceHoweverManyReadThem) {
  torch::jit::Module module("__torch__.Shared");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_parameter("w", at::randn({4, 4}), false);
  module.register_buffer("b", at::randn({4}));
  module.define(
      "def forward(self, x):\n"
      "    return torch.linear(torch.linear(x, self.w, self.b), self.w) + self.b\n");
  const auto graph = build_graph(flat_to_build(module));
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->weights.size(), 2U);
  EXPECT_EQ(weight_bytes(*graph), 80U);
  for (const GraphWeight& weight : graph->weights) {
    EXPECT_EQ(weight.is_parameter, weight.name == "w");
    EXPECT_EQ(weight.size_bytes, weight.name == "w" ? 64U : 16U);
    EXPECT_FALSE(weight.is_written);
  }
  EXPECT_EQ(graph->operators[0].weights.size(), 2U);
}

TEST(BuildGraph, WhatCannotBeCutIsRefused) {
  const auto refused = [](const Flat& flat) {
    const auto graph = build_graph(flat);
    return graph ? std::string("none") : graph.error().message;
  };
  EXPECT_THAT(refused(flat_to_build("def forward(self, x):\n    return x\n")), HasSubstr("empty"));
  Flat sparse = flat_to_build([] {
    torch::jit::Module module("__torch__.Sparse");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_parameter("w", at::randn({4, 4}), false);
    module.define("def forward(self, x):\n    return torch.mm(x, self.w)\n");
    return module;
  }());
  ASSERT_EQ(sparse.weights.size(), 1U);
  EXPECT_EQ(refused(sparse), "none");
  Flat fewer = sparse;
  fewer.weights.clear();
  EXPECT_FALSE(build_graph(fewer)) << "weights that do not match the inputs";
  sparse.weights[0].tensor = sparse.weights[0].tensor.to_sparse();
  EXPECT_THAT(refused(sparse), HasSubstr("quantised and sparse models cannot be cut"));
}

}  // namespace
}  // namespace pareto::model
