#include "runtime/torch/reached_writes.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace pareto::runtime {
namespace {

/// Returns whether code of "run" may write to the weights a and b.
bool writes_weights(const std::string& code) {
  torch::jit::Module module("__torch__.Shard");
  for (const char* name : {"a", "b"}) module.register_parameter(name, at::ones({4}), false);
  module.define("def run(self, x, y):\n" + code + "    return (x, y)\n");
  const auto graph = module.get_method("run").graph();
  return may_write_to(*graph, {graph->inputs().at(0)});
}

TEST(MayWriteTo, WhatTheGraphMadeItselfMayBeWritten) {
  for (const char* const code :
       {"    x.add_(1)\n", "    x.add_(self.a)\n",
        "    z = torch.conv1d(x, self.a)\n    z.relu_()\n",
        "    z = self.a.clone()\n    z.view([2, 2])[0].add_(1)\n",
        "    z = torch.mul(self.a, x)\n    z.mul_(self.b)\n    z.add_(1)\n",
        "    z = torch.cat([self.a, x])\n    z.relu_()\n",
        "    l = [x]\n    l.append(x + self.a)\n    l[1].add_(1)\n",
        "    n = [self.a.size(0)]\n    n.append(1)\n",
        "    for i in range(3):\n        x = torch.add(x, self.a)\n        x.relu_()\n"}) {
    EXPECT_FALSE(writes_weights(code)) << code;
  }
}

TEST(MayWriteTo, ViewsAndContainersLeadToAWeight) {
  for (const char* const code :
       {"    self.a.add_(1)\n", "    self.a.view([2, 2])[0].add_(1)\n",
        "    self.a.detach().add_(1)\n", "    self.a.data.add_(1)\n", "    [self.a][0].add_(1)\n",
        "    (x, self.a)[1].add_(1)\n", "    [(x, self.a)][0][1].add_(1)\n",
        "    {\"w\": self.a}[\"w\"].add_(1)\n", "    [self][0].a.add_(1)\n",
        "    l = [x]\n    l.append(self.a)\n    l[1].add_(1)\n",
        "    l = [x]\n    m = [l]\n    m[0].append(self.a)\n    l[1].add_(1)\n",
        "    z = [x] + [self.a]\n    z[1].add_(1)\n", "    self.a.add_(1).add_(2)\n"}) {
    EXPECT_TRUE(writes_weights(code)) << code;
  }
}

TEST(MayWriteTo, BranchesAndLoopsLeadToAWeight) {
  for (const char* const code :
       {"    z = x\n    if bool(x.sum() > 0):\n        z = self.a\n    z.add_(1)\n",
        "    z = x\n    for i in range(3):\n        z.add_(1)\n        z = self.a\n",
        "    z = self.a\n    for i in range(3):\n        z.add_(1)\n        z = x\n",
        "    z = x\n    for i in range(3):\n        z = self.a\n    z.add_(1)\n",
        "    for i in range(3):\n        if i > 1:\n            self.b.add_(1)\n"}) {
    EXPECT_TRUE(writes_weights(code)) << code;
  }
}

TEST(MayWriteTo, AResultIsNotTakenForNew) {
  for (const char* const expression :
       {"torch.dropout(self.a, 0.5, False)", "self.a.type_as(x)", "torch._unsafe_view(self.a, [4])",
        "torch.broadcast_tensors([self.a, x])[0]", "torch.conj_physical(self.a)",
        "self.a.sum_to_size([4])", "torch.atleast_1d(self.a)"}) {
    EXPECT_TRUE(writes_weights("    x = " + std::string(expression) + ".add_(1)\n")) << expression;
  }
}

TEST(MayWriteTo, StatisticsOfANormThatTrainsAreWritten) {
  const auto norm = [](const char* training) {
    return writes_weights("    z = torch.batch_norm(x, None, None, self.a[:], self.b[:], " +
                          std::string(training) + ", 0.1, 1e-5, True)\n");
  };
  EXPECT_TRUE(norm("True"));
  EXPECT_TRUE(norm("bool(x.sum() > 0)"));
  EXPECT_FALSE(norm("False"));
}

TEST(MayWriteTo, ACallIsNotFollowed) {
  torch::jit::Module module("__torch__.Shard");
  module.define(
      "def part(self, x):\n    return x\ndef run(self, x, y):\n    return self.part(x)\n");
  const auto graph = module.get_method("run").graph();
  EXPECT_TRUE(may_write_to(*graph, {graph->inputs().at(1)}));
  EXPECT_FALSE(may_write_to(*graph, {graph->inputs().at(2)}));
}

/// Returns whether the first two of what "run" returns may share memory.
bool share_memory(const std::string& code) {
  torch::jit::Module module("__torch__.Shard");
  for (const char* name : {"a", "b"}) module.register_parameter(name, at::ones({4}), false);
  module.define("def run(self, x, y):\n" + code);
  const auto graph = module.get_method("run").graph();
  MemoryGroups groups(*graph);
  const auto* const results = graph->outputs()[0]->node();
  return groups.of(results->input(0)) == groups.of(results->input(1));
}

TEST(MemoryGroups, ViewsAndContainersShareMemory) {
  for (const char* const code :
       {"    return (x, x.view([2, 2]))\n", "    return (x.t(), x[0])\n",
        "    return (x, torch.dropout(x, 0.5, False))\n", "    return (x, x.type_as(y))\n",
        "    return (x, torch.atleast_1d(x))\n", "    return (x, torch.relu_(x))\n",
        "    return (x, [y, x][1])\n", "    return (self.a, self.a.detach())\n",
        "    z = y\n    if bool(y.sum() > 0):\n        z = x\n    return (x, z)\n",
        "    z = y\n    for i in range(3):\n        z = x\n    return (x, z)\n",
        "    for i in range(3):\n        y = x.t()\n    return (x, y)\n"}) {
    EXPECT_TRUE(share_memory(code)) << code;
  }
}

TEST(MemoryGroups, WhatIsMadeAnewSharesNone) {
  for (const char* const code :
       {"    return (x, y)\n", "    return (x, torch.relu(x))\n", "    return (self.a, self.b)\n",
        "    return (x, torch.cat([x, y]))\n", "    z = x + y\n    return (z.add_(y), y)\n",
        "    z = torch.conv1d(x, self.a)\n    z.relu_()\n    return (z, self.a)\n"}) {
    EXPECT_FALSE(share_memory(code)) << code;
  }
}

}  // namespace
}  // namespace pareto::runtime
