// Real files, saved by torchvision: cut, carried as values and compared bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/emit/verify.h"
#include "tests/partitioner/scripted.h"
#include "tests/support/process.h"

namespace pareto::model {
namespace {

class Torchvision : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    files_ = new test::Files();
    const auto made = pareto::test::run(
        {"/usr/bin/python3",
         std::string(PARETO_SOURCE_DIR) + "/tests/partitioner/model/emit/make_torchvision.py",
         files_->path("").string()},
        {"OPENBLAS_NUM_THREADS=1"});
    ASSERT_EQ(made.exit_code, 0) << "python3-torchvision must be installed: " << made.errors;
  }
  static void TearDownTestSuite() {
    delete files_;
    files_ = nullptr;
  }

  static Expected<Model> open(const std::string& file, const std::string& shapes) {
    PARETO_ASSIGN(Flat flat, read_model(files_->path(file)));
    PARETO_ASSIGN(auto inputs, parse_input_shapes(shapes));
    return Model::examine(std::move(flat), std::move(inputs));
  }

  /// Expects equal outputs at every `stride`th legal point.
  static void expect_equal(const Model& model, std::size_t stride) {
    VerifyOptions options;
    options.batches = {1, 3};
    const auto all = select_split_points(model.split_points(), "all").value();
    for (std::size_t i = 0; i < all.size(); i += stride) {
      options.cuts.push_back(cut_at(model.split_points()[all[i]]));
    }
    options.runner.engine = "plain";
    const auto rows = verify(model, options, nullptr);
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_GE(rows->size(), 20U);
    for (const VerifyRow& row : *rows) {
      EXPECT_TRUE(row.bit_equal) << options.cuts[row.cut].name << ", batch " << row.batch << ": "
                                 << row.failure << " " << row.relative_error;
    }
  }

  static test::Files* files_;
};

test::Files* Torchvision::files_ = nullptr;

std::vector<std::string> module_names(const Model& model) {
  std::vector<std::string> names;
  const auto chosen = select_split_points(model.split_points(), "modules").value();
  for (const std::size_t i : chosen) {
    const auto& all = model.split_points()[i].names;
    names.insert(names.end(), all.begin(), all.end());
  }
  return names;
}

TEST_F(Torchvision, MobileNetV2Traced) {
  const auto model = open("mobilenet_v2_traced.pt", "3x64x64");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph().operators.size(), 153U);
  EXPECT_EQ(model->graph().weights.size(), 262U);
  const auto modules = select_split_points(model->split_points(), "modules");
  ASSERT_TRUE(modules);
  EXPECT_GE(modules->size(), 19U);
  const auto names = module_names(*model);
  for (int block = 0; block < 19; ++block) {
    EXPECT_THAT(names, ::testing::Contains("after:features." + std::to_string(block)));
  }
  expect_equal(*model, 7);
}

TEST_F(Torchvision, MobileNetV2ScriptedIsTheSameGraph) {
  const auto traced = open("mobilenet_v2_traced.pt", "3x64x64");
  const auto model = open("mobilenet_v2_scripted.pt", "3x64x64");
  ASSERT_TRUE(traced && model) << (traced ? model : traced).error().message;
  EXPECT_EQ(model->graph().operators.size(), 153U);
  EXPECT_EQ(module_names(*model), module_names(*traced));
  expect_equal(*model, 10);
}

TEST_F(Torchvision, SwinTracedWithViewsListsAndWrites) {
  const auto model = open("swin_traced.pt", "3x64x64");
  ASSERT_TRUE(model) << model.error().message;
  std::int64_t most = 0;
  std::size_t illegal = 0;
  for (const SplitPoint& point : model->split_points()) {
    most = std::max(most, point.tensors);
    illegal += point.legal ? 0 : 1;
  }
  EXPECT_GT(most, 3) << "several tensors cross";
  EXPECT_GT(illegal, 0U) << "its masks are filled by slices in place";
  EXPECT_THAT(module_names(*model), ::testing::Contains("after:features.1.0"));
  expect_equal(*model, 9);
}

TEST_F(Torchvision, ScriptedWithSeveralInputsAndADictOfResults) {
  const auto model = open("structured_scripted.pt", "3x16x16;8");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph().inputs.size(), 2U) << "the mask has a default";
  std::int64_t inner = 0;
  for (const Operator& op : model->graph().operators) inner += op.inner_operators;
  EXPECT_GT(inner, 0) << "the loop over data stays whole";
  expect_equal(*model, 1);
}

TEST_F(Torchvision, ThreeStagesInARow) {
  const auto model = open("mobilenet_v2_traced.pt", "3x64x64");
  ASSERT_TRUE(model) << model.error().message;
  const auto cuts =
      select_split_points(model->split_points(), "after:features.3,after:features.14");
  ASSERT_TRUE(cuts) << cuts.error().message;
  std::vector<std::int64_t> bounds{0};
  for (const std::size_t i : *cuts) bounds.push_back(model->split_points()[i].position);
  bounds.push_back(static_cast<std::int64_t>(model->graph().operators.size()));
  auto values = model->example_inputs(2, 9).value();
  const auto whole = model->run_whole(values);
  ASSERT_TRUE(whole) << whole.error().message;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const auto shard = emit_shard(*model, bounds[i], bounds[i + 1]);
    ASSERT_TRUE(shard) << shard.error().message;
    const auto runner = runtime::ShardRunner::load(
        *shard, [&](const Digest& digest) { return model->weight(digest); }, {.engine = "plain"});
    ASSERT_TRUE(runner) << runner.error().message;
    auto next = (*runner)->run(std::move(values));
    ASSERT_TRUE(next) << next.error().message;
    values = *std::move(next);
  }
  EXPECT_TRUE(bit_equal(Value(List{*whole}), Value(List{values})));
}

}  // namespace
}  // namespace pareto::model
