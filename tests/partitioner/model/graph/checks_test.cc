#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/resolver.h>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::count;
using test::expect_same_when_flat;
using test::graph_of;
using test::interpreted;

/// Resolves ValueError next to what LibTorch knows by itself: only Python brings exceptions along.
struct Exceptions final : torch::jit::NativeResolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(
      const std::string& name, torch::jit::GraphFunction& method,
      const torch::jit::SourceRange& place) override {
    if (name == "ValueError") return std::make_shared<torch::jit::ExceptionValue>(name);
    return NativeResolver::resolveValue(name, method, place);
  }
};

torch::jit::Module checking(const std::string& source) {
  torch::jit::Module module("__torch__.Checks");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(source, std::make_shared<Exceptions>());
  return module;
}

struct Left {
  std::size_t branches;
  std::size_t raises;
};

/// Counts what is left of the checks of a method, which still has to compute the same.
Left left_of(const std::string& body) {
  auto module = checking("\ndef forward(self, x):\n" + body);
  auto graph = graph_of(module);
  simplify(graph);
  const at::Tensor x = at::rand({2, 3}) + 1;
  EXPECT_TRUE(interpreted(graph, module, {x}).toTensor().equal(module.forward({x}).toTensor()))
      << body;
  return {count(graph, "prim::If"), count(graph, "prim::RaiseException")};
}

TEST(Checks, OfShapesAreTakenToHold) {
  const Left left = left_of(
      "    if x.dim() != 2:\n        raise ValueError(\"two dimensions\")\n    return x + 1\n");
  EXPECT_EQ(left.branches, 0U);
  EXPECT_EQ(left.raises, 0U);
  const Left sizes = left_of("    assert x.size(1) == 3\n    return x * 2\n");
  EXPECT_EQ(sizes.branches, 0U);
}

TEST(Checks, OfTheDataStay) {
  const Left left = left_of(
      "    if bool(x.sum() < 0):\n        raise ValueError(\"below zero\")\n    return x + 1\n");
  EXPECT_EQ(left.raises, 1U);
  // And still raise.
  const auto module = checking(
      "\ndef forward(self, x):\n    assert bool((x > 0).all()), \"positive\"\n    return x + 1\n");
  const auto graph = graph_of(module);
  remove_checks(*graph);
  EXPECT_ANY_THROW(interpreted(graph, module, {-at::ones({2})}));
  EXPECT_TRUE(interpreted(graph, module, {at::ones({2})}).toTensor().equal(at::full({2}, 2)));
}

TEST(Checks, BothBranchesOfWhichGoOnAreNone) {
  EXPECT_EQ(left_of("    if x.dim() == 2:\n        x = x + 1\n    else:\n        x = x - 1\n"
                    "    return x\n")
                .branches,
            1U);
}

TEST(Checks, TheBranchThatDoesNotRaiseIsTaken) {
  EXPECT_EQ(left_of("    if x.dim() == 2:\n        y = x * 3\n    else:\n"
                    "        raise ValueError(\"no\")\n    return y + 1\n")
                .raises,
            0U);
  expect_same_when_flat(checking(R"(
def forward(self, x):
    if x.dim() != 2:
        raise ValueError("two dimensions")
    assert x.size(1) == 3
    y = torch.relu(x)
    if bool(y.max() > 100):
        raise ValueError("too large")
    return y + 1
)"),
                        "3");
}

TEST(Checks, KindsThatFollowTheDataAreKnown) {
  for (const char* const kind : {"aten::nonzero", "aten::masked_select"}) {
    EXPECT_TRUE(sizes_follow_data(kind)) << kind;
  }
  for (const char* const kind : {"aten::relu", "aten::matmul", "aten::cat"}) {
    EXPECT_FALSE(sizes_follow_data(kind)) << kind;
    EXPECT_FALSE(asks_for_sizes(kind)) << kind;
  }
  EXPECT_TRUE(asks_for_sizes("aten::size"));
  EXPECT_TRUE(asks_for_sizes("aten::dim"));
}

}  // namespace
}  // namespace pareto::model
