#include "runtime/torch/ready_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/torch/compat.h"
#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Runs code with marks. Returns the results that were told early, in that order; they have to be
/// those that the graph returns.
std::vector<std::size_t> early_of(const std::string& code) {
  const torch::jit::Module module = module_of(code);
  const auto graph = module.get_method("run").graph()->copy();
  const std::size_t inputs = graph->inputs().size();
  insert_ready_marks(graph);
  EXPECT_EQ(graph->inputs().size(), inputs + 1) << "always";
  graph->lint();
  std::vector<std::size_t> early;
  std::vector<at::Tensor> told;
  const auto marks = c10::make_intrusive<ReadyMarks>();
  marks->ready = [&](std::size_t index, const c10::IValue& result) {
    early.push_back(index);
    told.push_back(result.toTensor().clone());
  };
  torch::jit::Stack stack{module._ivalue(), at::randn({3, 3}), c10::IValue::make_capsule(marks)};
  torch::jit::InterpreterState(torch::jit::Code(graph, "marked")).run(stack);
  for (std::size_t i = 0; i < early.size(); ++i) {
    EXPECT_TRUE(told[i].equal(stack.back().toTupleRef().elements()[early[i]].toTensor()))
        << "result " << early[i] << " was changed after it was told";
  }
  return early;
}

TEST(ReadyMarks, AResultIsToldWhileOthersAreComputed) {
  EXPECT_THAT(early_of("def run(self, x):\n"
                       "    a = torch.relu(x)\n"
                       "    b = a + 1\n"
                       "    return (b * 2, a, b)\n"),
              ElementsAre(1, 2));
}

TEST(ReadyMarks, TheLastResultAndWhatComesInAreNotTold) {
  EXPECT_THAT(early_of("def run(self, x):\n    return (x, torch.relu(x))\n"), IsEmpty());
  EXPECT_THAT(early_of("def run(self, x):\n    return (torch.relu(x), x)\n"), IsEmpty());
}

TEST(ReadyMarks, OneResultIsNotTold) {
  EXPECT_THAT(early_of("def run(self, x):\n    return (torch.relu(x) + 1,)\n"), IsEmpty());
}

TEST(ReadyMarks, WhatIsWrittenLaterIsNotTold) {
  EXPECT_THAT(early_of("def run(self, x):\n"
                       "    a = x + 1\n"
                       "    c = x * 3\n"
                       "    a.add_(1)\n"
                       "    return (a, c, a + c)\n"),
              ElementsAre(1));
  EXPECT_THAT(early_of("def run(self, x):\n"
                       "    a = x + 1\n"
                       "    b = a[0]\n"
                       "    b.mul_(0)\n"
                       "    return (a, x - 1)\n"),
              IsEmpty())
      << "a view of it is written";
}

TEST(ReadyMarks, OnlyTensorsAreTold) {
  EXPECT_THAT(early_of("def run(self, x):\n"
                       "    n = x.size(0) + 1\n"
                       "    l = [x + 1]\n"
                       "    a = torch.relu(x)\n"
                       "    return (n, l, a, a + 1)\n"),
              ElementsAre(2));
}

TEST(ReadyMarks, AResultThatStandsTwiceIsToldTwice) {
  EXPECT_THAT(early_of("def run(self, x):\n"
                       "    a = torch.relu(x)\n"
                       "    return (a, a, a + 1)\n"),
              testing::UnorderedElementsAre(0, 1));
}

TEST(ReadyMarks, ResultsOfBranchesAreToldBehindThem) {
  EXPECT_THAT(early_of("def run(self, x):\n"
                       "    if bool(x.sum() > 0):\n"
                       "        a = x + 1\n"
                       "    else:\n"
                       "        a = x - 1\n"
                       "    return (a, torch.relu(a))\n"),
              ElementsAre(0));
}

TEST(ReadyMarks, NobodyNeedsToAsk) {
  const torch::jit::Module module =
      module_of("def run(self, x):\n    a = x + 1\n    return (a, a * 2)\n");
  const auto graph = module.get_method("run").graph()->copy();
  insert_ready_marks(graph);
  torch::jit::Stack stack{module._ivalue(), at::ones({1}),
                          c10::IValue::make_capsule(c10::make_intrusive<ReadyMarks>())};
  torch::jit::InterpreterState(torch::jit::Code(graph, "marked")).run(stack);
  EXPECT_EQ(stack.back().toTupleRef().elements()[1].toTensor().item<float>(), 4);
}

}  // namespace
}  // namespace pareto::runtime
