#include "partitioner/model/emit/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "partitioner/model/emit/verify.h"
#include "tests/partitioner/model/emit/tied.h"

namespace pareto::model {
namespace {

using test::open;
using test::scripted;
using test::tied;
using ::testing::HasSubstr;

std::int64_t operators(const Model& model) {
  return static_cast<std::int64_t>(model.graph().operators.size());
}

TEST(EmitShard, HoldsWhatTheOtherSideNeeds) {
  const auto model = open(tied(), "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto shard = emit_shard(*model, 1, 3);  // relu, add
  ASSERT_TRUE(shard) << shard.error().message;
  EXPECT_EQ(shard->model, "model");
  EXPECT_EQ(shard->begin, 1);
  EXPECT_EQ(shard->end, 3);
  EXPECT_EQ(shard->scopes.size(), 2U);
  ASSERT_EQ(shard->weights.size(), 1U);
  EXPECT_EQ(shard->weights[0].name, "offset");
  EXPECT_FALSE(shard->weights[0].is_parameter);
  EXPECT_EQ(shard->weights[0].shape, (Shape{4}));
  EXPECT_TRUE(model->weight(shard->weights[0].digest));
  ASSERT_EQ(shard->inputs.size(), 1U);
  ASSERT_EQ(shard->outputs.size(), 1U);
  const auto next = emit_shard(*model, 3, operators(*model));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->inputs[0].name, shard->outputs[0].name) << "one value, one name on both sides";
}

TEST(EmitShard, TravelsWithoutWeights) {
  torch::jit::Module module("__torch__.Large");
  module.register_parameter("weight", torch::ones({512, 512}), false);
  module.define("def forward(self, x):\n    return torch.relu(x.matmul(self.weight))\n");
  const auto model = open(module, "512");
  ASSERT_TRUE(model) << model.error().message;
  const auto shard = emit_shard(*model, 0, operators(*model));
  ASSERT_TRUE(shard) << shard.error().message;
  EXPECT_LT(shard->archive.size(), 64U * 1024);
  EXPECT_EQ(shard->weight_bytes(), 4U * 512 * 512);
}

TEST(EmitShard, IsTheSameEveryTimeAndSurvivesItsManifest) {
  const auto model = open(tied(), "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto one = emit_shard(*model, 0, 2);
  const auto two = emit_shard(*model, 0, 2);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->digest(), two->digest());
  const auto back = plan::shard_from_manifest(plan::manifest_json(*one), one->archive);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->digest(), one->digest());
}

TEST(EmitShard, RangesAndIllegalPointsAreRefused) {
  torch::jit::Module module("__torch__.ConvNorm");
  module.register_parameter("w", torch::ones({2, 1, 1, 1}), false);
  module.register_buffer("one", torch::ones({2}));
  module.define(R"(
def forward(self, x):
    y = torch.conv2d(x, self.w)
    y = torch.batch_norm(y, self.one, self.one, self.one, self.one, False, 0.1, 1e-5, True)
    return torch.relu(y)
)");
  const auto model = open(module, "1x4x4");
  ASSERT_TRUE(model) << model.error().message;
  for (const auto& [begin, end] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {-1, 2}, {0, 0}, {2, 1}, {0, 4}, {3, 3}}) {
    EXPECT_FALSE(emit_shard(*model, begin, end)) << begin << " " << end;
  }
  const auto illegal = emit_shard(*model, 0, 1);
  ASSERT_FALSE(illegal);
  EXPECT_EQ(illegal.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(illegal.error().message, HasSubstr("batch norm"));
  EXPECT_TRUE(emit_shard(*model, 0, 2));
}

TEST(EmitShard, ProfilesNameTheModelsOperators) {
  // The value that crosses is a transposed view, which the suffix lays out before its first
  // operator.
  const auto model = open(
      scripted(
          "Views",
          "def forward(self, x):\n    return torch.relu(torch.sigmoid(x).transpose(1, 2)) + 1\n"),
      "3x5");
  ASSERT_TRUE(model) << model.error().message;
  const auto shard = emit_shard(*model, 2, operators(*model));
  ASSERT_TRUE(shard) << shard.error().message;
  const auto runner = runtime::ShardRunner::load(
      *shard, [&](const Digest& digest) { return model->weight(digest); }, {.engine = "plain"});
  ASSERT_TRUE(runner) << runner.error().message;
  const auto input = make_example(shard->inputs[0].spec, 2, 0);
  ASSERT_TRUE(input);
  const auto profile = (*runner)->profile({*input}, 1, {});
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->operators.size(), 2U);
  EXPECT_EQ(profile->operators[0].kind, "aten::relu");
  EXPECT_EQ(profile->operators[0].position, 2);
}

TEST(Verify, RowsComeInOrderAndFailuresAreSaid) {
  const auto model = open(tied(), "4");
  ASSERT_TRUE(model) << model.error().message;
  VerifyOptions options;
  options.batches = {1, 2};
  options.cuts = cuts_at(model->split_points(), {0, 1, 2});
  options.cuts.push_back({"op:77", {{0, 77}}});
  options.runner.engine = "plain";
  std::vector<std::pair<std::size_t, std::int64_t>> order;
  const auto rows = verify(*model, options,
                           [&](const VerifyRow& row) { order.emplace_back(row.cut, row.batch); });
  ASSERT_TRUE(rows) << rows.error().message;
  const std::vector<std::pair<std::size_t, std::int64_t>> expected{{0, 1}, {0, 2}, {1, 1}, {1, 2},
                                                                   {2, 1}, {2, 2}, {3, 1}, {3, 2}};
  EXPECT_EQ(order, expected);
  EXPECT_TRUE(rows->front().failure.empty());
  EXPECT_FALSE(rows->back().failure.empty());
  EXPECT_FALSE(rows->back().bit_equal);
}

/// Verifies the first cut of a model whose weight is not what the file, which runs whole, has.
Expected<VerifyRow> first_cut_with(float weight,
                                   double most_error = std::numeric_limits<double>::infinity()) {
  torch::jit::Module module("__torch__.Offset");
  module.register_parameter("offset", torch::ones({64}), false);
  module.define("def forward(self, x):\n    return torch.relu(x) + self.offset\n");
  const test::Files files;
  PARETO_ASSIGN(Flat flat, read_model(files.save(module, "model")));
  flat.weights.at(0).tensor = torch::full({64}, weight);
  PARETO_ASSIGN(auto inputs, parse_input_shapes("64"));
  PARETO_ASSIGN(const auto model, Model::examine(std::move(flat), std::move(inputs)));
  VerifyOptions options;
  options.batches = {1};
  options.cuts = {cut_at(model.split_points()[0])};
  options.runner.engine = "plain";
  options.most_error = most_error;
  PARETO_ASSIGN(const auto rows, verify(model, options, nullptr));
  return rows.front();
}

TEST(Verify, ADifferenceIsSeen) {
  const auto row = first_cut_with(1.5);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_FALSE(row->bit_equal);
  EXPECT_GT(row->relative_error, 0);
  EXPECT_EQ(row->failure, "");
  EXPECT_TRUE(first_cut_with(1)->bit_equal);
}

TEST(Verify, AnErrorThatRoundingDoesNotExplainHasFailed) {
  EXPECT_THAT(first_cut_with(1.5, 0.01)->failure, HasSubstr("rounding explains at most 0.01"));
  EXPECT_EQ(first_cut_with(1.5, 0.9)->failure, "");
}

TEST(Verify, RandomNumbersAreDrawnByOnePointAtATime) {
  // Engines that are tried while a shard is loaded draw, too.
  torch::manual_seed(4);
  torch::jit::Module module("__torch__.Noise");
  module.register_parameter("w", torch::randn({64, 64}), false);
  module.define(R"(
def forward(self, x):
    for i in range(4):
        x = torch.relu(torch.matmul(x, self.w))
        x = x + torch.randn_like(x)
    return x
)");
  const auto model = open(module, "64");
  ASSERT_TRUE(model) << model.error().message;
  VerifyOptions options;
  options.batches = {1, 2};
  options.cuts = cuts_at(model->split_points(), select_split_points(*model, "all").value());
  const auto rows = verify(*model, options, nullptr);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_GT(rows->size(), 8U);
  for (const VerifyRow& row : *rows) {
    EXPECT_LT(row.relative_error, 1e-4) << options.cuts[row.cut].name << row.failure;
  }
}

TEST(Verify, WhatIsNotFiniteWhereTheWholeModelIsHasFailed) {
  const auto row = first_cut_with(std::numeric_limits<float>::quiet_NaN());
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_FALSE(row->bit_equal);
  EXPECT_THAT(row->failure, HasSubstr("not finite"));
}

TEST(Verify, OtherEnginesStateTheirError) {
  torch::manual_seed(4);
  torch::jit::Module module("__torch__.Conv");
  module.register_parameter("w", torch::randn({16, 3, 3, 3}), false);
  module.register_parameter("v", torch::randn({8, 16, 3, 3}), false);
  module.define(
      "def forward(self, x):\n"
      "    return torch.relu(torch.conv2d(torch.relu(torch.conv2d(x, self.w)), self.v))\n");
  const auto model = open(module, "3x16x16");
  ASSERT_TRUE(model) << model.error().message;
  VerifyOptions options;
  options.batches = {2};
  options.cuts = {cut_at(model->split_points()[1])};
  options.runner.engine = "onednn";
  const auto rows = verify(*model, options, nullptr);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_TRUE((*rows)[0].failure.empty()) << (*rows)[0].failure;
  EXPECT_LT((*rows)[0].relative_error, 1e-5);
}

TEST(Verify, TheWholeModelMustRun) {
  const auto model = open(tied(), "4");
  ASSERT_TRUE(model) << model.error().message;
  VerifyOptions options;
  options.batches = {0};
  EXPECT_FALSE(verify(*model, options, nullptr));
}

}  // namespace
}  // namespace pareto::model
