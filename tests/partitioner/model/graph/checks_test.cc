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

struct Left {
  std::size_t branches;
  std::size_t raises;
};

/// Counts what is left of the checks of a method, which still has to compute the same.
Left left_of(const std::string& body) {
  auto module = scripted("Checks", "\ndef forward(self, x):\n" + body);
  const auto graph = graph_of(module);
  remove_checks(*graph);
  const at::Tensor x = at::rand({2, 3}) + 1;
  EXPECT_TRUE(interpreted(graph, module, {x}).toTensor().equal(module.forward({x}).toTensor()))
      << body;
  return {count(graph, "prim::If"), count(graph, "prim::RaiseException")};
}

TEST(Checks, BothBranchesOfWhichGoOnAreNone) {
  EXPECT_EQ(left_of("    if x.dim() == 2:\n        x = x + 1\n    else:\n        x = x - 1\n"
                    "    return x\n")
                .branches,
            1U);
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
