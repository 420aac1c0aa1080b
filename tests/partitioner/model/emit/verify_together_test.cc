// Many cuts compared at once: by the shards between neighbours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/emit/verify.h"
#include "partitioner/model/zoo/model_builder.h"
#include "partitioner/planning/search/graph_ideals.h"
#include "tests/partitioner/model/emit/tied.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using testing::HasSubstr;

std::vector<Cut> frontiers(const Model& model) {
  std::vector<Cut> cuts;
  const auto sets = search::find_graph_ideal_sets(model.graph());
  EXPECT_TRUE(sets);
  for (const plan::OperatorRanges& set : *sets) {
    if (auto cut = checked_cut(model.graph(), model.split_points(), set)) {
      cuts.push_back(*std::move(cut));
    }
  }
  return cuts;
}

VerifyOptions plain_options(std::vector<Cut> cuts) {
  VerifyOptions options;
  options.batches = {1, 3};
  options.cuts = std::move(cuts);
  options.runner.engine = "plain";
  return options;
}

TEST(VerifyTogether, AllFrontiersOfABranchedModelAreEqual) {
  zoo::ModelOptions small;
  small.num_classes = 10;
  small.input = {{{3, 64, 64}, DType::kFloat32}};
  const auto model = zoo::open_model("squeezenet1_0", small);
  ASSERT_TRUE(model) << model.error().message;
  const VerifyOptions options = plain_options(frontiers(*model));
  ASSERT_GT(options.cuts.size(), 30U);
  std::size_t last = 0;
  std::size_t all = 0;
  const auto rows = verify_together(*model, options, [&](std::size_t done, std::size_t total) {
    EXPECT_GT(done, last);
    last = done;
    all = total;
  });
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(last, all);
  ASSERT_EQ(rows->size(), 2 * options.cuts.size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const VerifyRow& row = (*rows)[i];
    EXPECT_EQ(row.cut, i / 2);
    EXPECT_EQ(row.batch, i % 2 == 0 ? 1 : 3);
    EXPECT_TRUE(row.bit_equal) << options.cuts[row.cut].name << ": " << row.failure;
  }
}

TEST(VerifyTogether, OneCutIsItsTwoHalves) {
  const auto model = open(test::transposed_views(), "31x31x7");
  ASSERT_TRUE(model) << model.error().message;
  for (const Cut& cut : frontiers(*model)) {
    const auto rows = verify_together(*model, plain_options({cut}), {});
    ASSERT_TRUE(rows) << rows.error().message;
    for (const VerifyRow& row : *rows) EXPECT_TRUE(row.bit_equal) << cut.name << row.failure;
  }
}

/// A model of two branches, one of which adds a weight that is not what the file, which runs whole,
/// has.
Expected<Model> with_other_weight() {
  torch::jit::Module module("__torch__.Offset");
  module.register_parameter("offset", torch::ones({8}), false);
  module.define(
      "def forward(self, x):\n"
      "    a = torch.sigmoid(torch.relu(x))\n"
      "    b = torch.tanh(x) + self.offset\n"
      "    return a.matmul(b.t())\n");
  const test::Files files;
  PARETO_ASSIGN(Flat flat, read_model(files.save(module, "model")));
  flat.weights.at(0).tensor = torch::full({8}, 1.5);
  PARETO_ASSIGN(auto inputs, parse_input_shapes("8"));
  return Model::examine(std::move(flat), std::move(inputs));
}

TEST(VerifyTogether, ADifferenceIsSeen) {
  const auto model = with_other_weight();
  ASSERT_TRUE(model) << model.error().message;
  const auto rows = verify_together(*model, plain_options(frontiers(*model)), {});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_FALSE(rows->empty());
  for (const VerifyRow& row : *rows) {
    EXPECT_FALSE(row.bit_equal);
    EXPECT_THAT(row.failure, HasSubstr("differ from the whole model's"));
  }
}

TEST(VerifyTogether, CutsThatAreNoneHaveFailedAndTheOthersHaveNot) {
  const auto model = open(test::tied(), "4");
  ASSERT_TRUE(model) << model.error().message;
  VerifyOptions options = plain_options(frontiers(*model));
  ASSERT_FALSE(options.cuts.empty());
  const auto end = static_cast<std::int64_t>(model->graph().operators.size());
  options.cuts.push_back({"last", {{end - 1, end}}});
  const auto rows = verify_together(*model, options, {});
  ASSERT_TRUE(rows) << rows.error().message;
  for (const VerifyRow& row : *rows) {
    EXPECT_EQ(row.bit_equal, row.cut + 1 < options.cuts.size()) << row.failure;
  }
  EXPECT_THAT(rows->back().failure, HasSubstr("which it needs"));
}

TEST(VerifyTogether, NeedsTheEngineThatKeepsBits) {
  const auto model = open(test::tied(), "4");
  ASSERT_TRUE(model) << model.error().message;
  VerifyOptions options = plain_options(frontiers(*model));
  options.runner.engine = "auto";
  EXPECT_FALSE(verify_together(*model, options, {}));
}

}  // namespace
}  // namespace pareto::model
