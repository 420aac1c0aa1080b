// Models that fool a splitter which takes one trace for all batches: the batch in arithmetic, a
// size that grows with its square, and a branch on data. They are right, or refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/emit/verify.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using testing::HasSubstr;

/// Runs every cut at batches that the model was not examined at, too.
void expect_right(const Model& model, std::uint64_t seed) {
  VerifyOptions options;
  options.batches = {1, 2, 5, 64};
  options.seed = seed;
  for (const SplitPoint& point : model.split_points()) {
    if (point.legal) options.cuts.push_back(cut_at(point));
  }
  options.runner.engine = "plain";
  const auto rows = verify(model, options, {});
  ASSERT_TRUE(rows) << rows.error().message;
  for (const VerifyRow& row : *rows) {
    EXPECT_TRUE(row.bit_equal) << options.cuts[row.cut].name << " at batch " << row.batch << ": "
                               << row.failure;
  }
}

std::string all_reasons(const Model& model) {
  std::string reasons;
  for (const SplitPoint& point : model.split_points()) reasons += point.reason + "\n";
  return reasons;
}

TEST(Fooled, TheBatchInArithmeticIsThatOfTheRequest) {
  const auto model = open(scripted("Scaled",
                                   "def forward(self, x):\n"
                                   "    b = x.size(0)\n"
                                   "    y = torch.relu(x) / b\n"
                                   "    z = torch.sigmoid(y) * (b * b + 1)\n"
                                   "    return z + torch.tanh(y).sum() * float(b)\n"),
                          "6");
  ASSERT_TRUE(model) << model.error().message;
  expect_right(*model, 0);
  // b × b is no multiple of the batch and a constant: it stays on one side, and a reason names it.
  EXPECT_THAT(all_reasons(*model), HasSubstr("would cross"));
  EXPECT_THAT(all_reasons(*model), HasSubstr("aten::mul"));
}

TEST(Fooled, ASizeThatGrowsWithTheSquareIsRefusedByName) {
  const auto model = open(scripted("Pairs",
                                   "def forward(self, x):\n"
                                   "    b = x.size(0)\n"
                                   "    y = torch.relu(x)\n"
                                   "    a = y.repeat([b, 1])\n"
                                   "    c = torch.tanh(a).view([b, b, 6]).sum([1])\n"
                                   "    return torch.sigmoid(c)\n"),
                          "6");
  ASSERT_TRUE(model) << model.error().message;
  expect_right(*model, 0);
  const std::string reasons = all_reasons(*model);
  EXPECT_THAT(reasons, HasSubstr("does not grow with the batch"));
  EXPECT_THAT(reasons, HasSubstr("made by aten::repeat"));
}

TEST(Fooled, ABranchOnDataTakesTheSideOfTheRequest) {
  const auto model = open(scripted("Branches",
                                   "def forward(self, x):\n"
                                   "    y = torch.relu(x)\n"
                                   "    if bool((x.sum() > 0).item()):\n"
                                   "        y = torch.sigmoid(y) * 2\n"
                                   "    else:\n"
                                   "        y = torch.tanh(y) - 3\n"
                                   "    return torch.exp(y)\n"),
                          "6");
  ASSERT_TRUE(model) << model.error().message;
  bool is_kept_whole = false;
  for (const Operator& op : model->graph().operators) {
    is_kept_whole = is_kept_whole || op.kind == "prim::If";
  }
  EXPECT_TRUE(is_kept_whole);
  // Of made-up inputs some have a positive sum, and some a negative one.
  std::set<bool> sides;
  for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 4U, 5U}) {
    expect_right(*model, seed);
    const auto inputs = model->example_inputs(1, seed);
    ASSERT_TRUE(inputs);
    const auto outputs = model->run_whole(*inputs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    float first = 0;
    std::memcpy(&first, outputs->front().get_if<Tensor>()->bytes().data(), sizeof first);
    sides.insert(first > 1);
  }
  EXPECT_EQ(sides.size(), 2U);
}

}  // namespace
}  // namespace pareto::model
