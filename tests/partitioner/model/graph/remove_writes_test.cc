// Operators that write, replaced by those that return: only if nobody sees the difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "partitioner/model/graph/examine.h"
#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

using test::expect_same_when_flat;
using test::scripted;
using ::testing::Contains;

torch::jit::Module writing(const std::string& body) {
  return scripted("Writes", "def forward(self, x):\n" + body);
}

/// Returns the kinds of operators of a model once it is opened; it has to compute the same.
std::vector<std::string> kinds_of_flat(const std::string& body) {
  expect_same_when_flat(writing(body), "6");
  const auto model = test::open(writing(body), "6");
  EXPECT_TRUE(model) << body << model.error().message;
  return model ? test::kinds(model->graph()) : std::vector<std::string>{};
}

TEST(RemoveWrites, ToWhatNobodyElseSeesBecomeNewTensors) {
  for (const char* const line : {"y.relu_()", "y.add_(1)", "y.mul_(x)", "y.clamp_(0, 1)",
                                 "torch.sigmoid_(y)", "y.sub_(x)", "y.div_(3.0)"}) {
    const auto kinds =
        kinds_of_flat("    y = x + 1\n    y = " + std::string(line) + "\n    return y * 2\n");
    for (const std::string& kind : kinds) EXPECT_FALSE(kind.ends_with('_')) << line << ": " << kind;
  }
}

TEST(RemoveWrites, ThatChangeAViewStay) {
  EXPECT_THAT(kinds_of_flat("    y = x + 1\n    z = y[:, 0]\n    z.add_(5)\n    return y * 2\n"),
              Contains("aten::add_"));
  EXPECT_THAT(
      kinds_of_flat("    y = x + 1\n    z = y.view([-1])\n    y.relu_()\n    return z + 1\n"),
      Contains("aten::relu_"));
}

TEST(RemoveWrites, WhoseNewTensorWouldBeOfAnotherTypeStay) {
  // A bfloat16 tensor stays one if it is written to; a new one would be float32.
  EXPECT_THAT(kinds_of_flat("    y = (x * 0).to(15)\n    y.add_(x)\n    return y * 2\n"),
              Contains("aten::add_"));
}

TEST(RemoveWrites, OfRandomNumbersStay) {
  const auto model = test::open(
      writing("    y = x + 1\n    y.normal_()\n    z = x + 1\n    z.normal_()\n    return y - z\n"),
      "6");
  ASSERT_TRUE(model) << model.error().message;
  const auto kinds = test::kinds(model->graph());
  EXPECT_EQ(std::ranges::count(kinds, "aten::normal_"), 2);
}

TEST(RemoveWrites, InABranchComputeTheSame) {
  for (const char* const body :
       {"    y = x + 1\n    if bool(x.sum() > 0):\n        y.add_(1)\n    return y * 2\n",
        "    y = x + 1\n    for i in range(3):\n        y.mul_(2)\n    return y\n",
        "    y = x + 1\n    z = [y]\n    y.add_(1)\n    return z[0] + y\n",
        "    y = x + 1\n    y[0] = 7.0\n    return y\n",
        "    y = x + 1\n    y.add_(y)\n    y.sub_(y * 0.5)\n    return y, y + 1\n"}) {
    expect_same_when_flat(writing(body), "6");
  }
}

TEST(RemoveWrites, AModelThatRunsNowhereKeepsItsWrites) {
  const test::Files files;
  Flat flat = read_model(files.save(writing("    y = x + 1\n    y.relu_()\n"
                                            "    return torch.linear(y, torch.ones([3, 77]))\n"),
                                    "model"))
                  .value();
  const auto shapes = parse_input_shapes("6").value();
  const auto removed = remove_writes(flat, shapes, {});
  ASSERT_TRUE(removed) << removed.error().message;
  torch::jit::Stack stack{at::ones({2, 77})};
  for (const FlatWeight& weight : flat.weights) stack.emplace_back(weight.to_run());
  torch::jit::InterpreterState(torch::jit::Code(flat.graph, "flat")).run(stack);
  EXPECT_EQ(stack.back().toTensor().size(1), 3) << "it still is what it was";
}

TEST(RemoveWrites, WithoutWritesNothingChanges) {
  const test::Files files;
  Flat flat = read_model(files.save(writing("    return torch.relu(x + 1)\n"), "model")).value();
  const std::string before = flat.graph->toString(false);
  ASSERT_TRUE(remove_writes(flat, parse_input_shapes("6").value(), {3}));
  EXPECT_EQ(flat.graph->toString(false), before);
}

}  // namespace
}  // namespace pareto::model
