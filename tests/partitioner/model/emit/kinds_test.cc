// Models of the kinds that people write, saved by Python: what they compute there they compute
// here, whole and cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/emit/emit.h"
#include "partitioner/model/emit/verify.h"
#include "runtime/torch/convert.h"
#include "tests/partitioner/scripted.h"
#include "tests/support/process.h"

namespace pareto::model {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class Kinds : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    files_ = new test::Files();
    const auto made = pareto::test::run(
        {"/usr/bin/python3",
         std::string(PARETO_SOURCE_DIR) + "/tests/partitioner/model/emit/make_kinds.py",
         files_->path("").string()},
        {"OPENBLAS_NUM_THREADS=1"});
    ASSERT_EQ(made.exit_code, 0) << "python3-torch must be installed: " << made.errors;
  }
  static void TearDownTestSuite() {
    delete files_;
    files_ = nullptr;
  }

  static Expected<Model> open(const std::string& name, const std::string& shapes) {
    PARETO_ASSIGN(Flat flat, read_model(files_->path(name + ".pt")));
    PARETO_ASSIGN(auto inputs, parse_input_shapes(shapes));
    return Model::examine(std::move(flat), std::move(inputs));
  }

  static std::string open_error(const std::string& name, const std::string& shapes) {
    const auto model = open(name, shapes);
    EXPECT_FALSE(model) << name;
    return model ? "" : model.error().message;
  }

  /// Returns the tensors that Python saved under a name and a number.
  static std::vector<Value> saved(const std::string& name, const std::string& prefix) {
    const auto module = torch::jit::load(files_->path(name + ".io.pt").string());
    std::vector<Value> values;
    while (module.hasattr(prefix + std::to_string(values.size()))) {
      const auto tensor = module.attr(prefix + std::to_string(values.size())).toTensor();
      values.emplace_back(runtime::from_torch(tensor.clone()).value());
    }
    return values;
  }

  static std::vector<Cut> all_cuts(const Model& model) {
    return cuts_at(model.split_points(), select_split_points(model, "all").value());
  }

  static std::vector<VerifyRow> verified(const Model& model, const std::string& engine) {
    VerifyOptions options;
    options.batches = {2, 3};
    options.cuts = all_cuts(model);
    options.runner.engine = engine;
    return verify(model, options, nullptr).value();
  }

  /// Whole it is what Python computes; cut anywhere, the same bits in the plain engine, and no
  /// error in the best one.
  static void expect_as_in_python(const std::string& name, const std::string& shapes,
                                  std::size_t least_cuts) {
    const auto model = open(name, shapes);
    ASSERT_TRUE(model) << model.error().message;
    const auto inputs = saved(name, "in");
    const auto expected = saved(name, "out");
    ASSERT_FALSE(expected.empty());
    auto whole = model->run_whole(inputs);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(tensors_of(*whole).size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(bit_equal(Value(*tensors_of(*whole)[i]), expected[i])) << name << " output " << i;
    }
    const auto rows = verified(*model, "plain");
    EXPECT_GE(rows.size() / 2, least_cuts) << name;
    for (const VerifyRow& row : rows) {
      EXPECT_TRUE(row.bit_equal) << name << " " << all_cuts(*model)[row.cut].name << ": "
                                 << row.failure << " " << row.relative_error;
    }
    for (const VerifyRow& row : verified(*model, "auto")) {
      EXPECT_EQ(row.failure, "") << name << " " << all_cuts(*model)[row.cut].name;
      EXPECT_LT(row.relative_error, 1e-4) << name << " " << all_cuts(*model)[row.cut].name;
    }
  }

  static std::size_t legal_cuts(const Model& model) {
    return static_cast<std::size_t>(
        std::ranges::count_if(model.split_points(), &SplitPoint::legal));
  }

  static test::Files* files_;
};

test::Files* Kinds::files_ = nullptr;

TEST_F(Kinds, NumbersOfPythonDoNotDecideTheDtype) {
  expect_as_in_python("numbers", "2x6x6:uint8", 8);
  expect_as_in_python("doubles", "4:float64", 3);
  const auto model = open("numbers", "2x6x6:uint8");
  EXPECT_EQ(tensors_of(model->graph().values.back().spec).at(0).dtype, DType::kFloat32);
}

TEST_F(Kinds, TheWholeModelRunsAsInPythonAfterAShardRan) {
  const auto model = open("numbers", "2x6x6:uint8");
  ASSERT_TRUE(model) << model.error().message;
  VerifyOptions options;
  options.batches = {2};
  options.cuts = {cut_at(model->split_points()[0])};
  options.runner.engine = "plain";
  for (int i = 0; i < 3; ++i) {
    const auto rows = verify(*model, options, nullptr);
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_TRUE(rows->at(0).bit_equal) << rows->at(0).failure;
  }
}

TEST_F(Kinds, DictsWithConstantKeysAreValues) {
  expect_as_in_python("segmenter", "6", 9);
  expect_as_in_python("pyramid", "6", 9);
  const auto segmenter = open("segmenter", "6");
  EXPECT_EQ(legal_cuts(*segmenter), segmenter->split_points().size());
  EXPECT_THAT(test::kinds(open("pyramid", "6")->graph()),
              AllOf(Not(Contains(HasSubstr("Dict"))), Not(Contains("aten::_set_item"))));
}

TEST_F(Kinds, ADictThatFollowsFromTheDataStaysOne) { expect_as_in_python("unsure", "4", 2); }

TEST_F(Kinds, ForksAreCutLikeCalls) {
  expect_as_in_python("forks", "4", 15);
  const auto model = open("forks", "4");
  EXPECT_THAT(test::kinds(model->graph()),
              AllOf(Not(Contains("prim::fork")), Not(Contains("aten::wait"))));
  std::vector<std::string> scopes;
  for (const Operator& op : model->graph().operators) scopes.push_back(op.scope);
  EXPECT_THAT(scopes, AllOf(Contains("a"), Contains("b")));
}

TEST_F(Kinds, ObjectsAreTheValuesOfTheirAttributes) {
  expect_as_in_python("objects", "4", 6);
  expect_as_in_python("listed", "4", 4);
  EXPECT_THAT(open_error("unlisted", "4"), AllOf(HasSubstr("class Masked (made in the model"),
                                                 HasSubstr("aten::append"), HasSubstr("tuple")));
}

TEST_F(Kinds, ObjectsThatALoopCarriesAreTheirAttributes) {
  expect_as_in_python("carried", "4", 4);
  expect_as_in_python("exchanged", "4", 4);
  // An object that is read after the loop may be the one that the loop writes to.
  EXPECT_THAT(open_error("aliased", "4"), HasSubstr("class Masked (made in the model"));
}

TEST_F(Kinds, ChecksOfTheDataStayAndSpeakForThemselves) {
  expect_as_in_python("checks", "4", 6);
  const auto model = open("checks", "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto kinds = test::kinds(model->graph());
  EXPECT_EQ(std::ranges::count(kinds, "prim::If"), 2) << "the shape has been checked";
  const auto operators = static_cast<std::int64_t>(kinds.size());
  const auto weights = [&](const Digest& digest) { return model->weight(digest); };
  auto inputs = saved("checks", "in");
  for (const std::string engine : {"plain", "auto"}) {
    runtime::RunnerOptions options;
    options.engine = engine;
    const auto runner =
        runtime::ShardRunner::load(emit_shard(*model, 0, operators).value(), weights, options);
    ASSERT_TRUE(runner) << runner.error().message;
    for (const auto& [number, words] :
         {std::pair(-500.0F, "sensor fault"), std::pair(500.0F, "too hot")}) {
      const auto faulty = runtime::from_torch(torch::full({2, 4}, number)).value();
      const auto refused = (*runner)->run({Value(faulty)});
      ASSERT_FALSE(refused) << engine;
      EXPECT_THAT(refused.error().message, HasSubstr(words)) << engine;
    }
    const auto next = (*runner)->run(inputs);
    EXPECT_TRUE(next) << next.error().message;
  }
}

TEST_F(Kinds, PackedWeightsOfQuantisedLayersCount) {
  for (const char* name : {"quantised", "quantised_frozen"}) {
    expect_as_in_python(name, "3x8", 5);
    const auto model = open(name, "3x8");
    ASSERT_TRUE(model) << model.error().message;
    // Two matrices of 6 x 16 and 16 x 4 bytes, those of the LSTM, and biases.
    EXPECT_GE(weight_bytes(model->graph()), 16U * 6 + 4U * 16 + 24 * 8 + 24 * 6) << name;
    double flops = 0;
    for (const Operator& op : model->graph().operators) flops += op.flops_per_sample;
    EXPECT_GE(flops, 3 * 2.0 * (16 * 6 + 4 * 16 + 24 * 8 + 24 * 6)) << name;
    for (const SplitPoint& point : model->split_points()) {
      if (!point.legal) continue;
      const auto shard = emit_shard(*model, 0, point.position);
      ASSERT_TRUE(shard) << shard.error().message;
      EXPECT_EQ(shard->weight_bytes(), point.weight_bytes_before) << name << point.name;
    }
    EXPECT_GT(model->split_points().back().weight_bytes_before, 0U) << name;
    const auto digest = model->digest();
    EXPECT_EQ(open(name, "3x8")->digest(), digest) << "it does not depend on addresses";
  }
}

TEST_F(Kinds, EqualSeedsMakeRandomModelsVerifiable) {
  const auto model = open("random", "4");
  ASSERT_TRUE(model) << model.error().message;
  std::vector<std::string> random;
  bool always_drops = false;
  for (const Operator& op : model->graph().operators) {
    if (op.is_random) random.push_back(op.kind);
    always_drops = always_drops || (op.kind == "aten::dropout" && op.always_drops && !op.trains);
  }
  EXPECT_THAT(random, ::testing::UnorderedElementsAre("aten::randn_like", HasSubstr("uniform"),
                                                      HasSubstr("uniform"), "aten::dropout"));
  EXPECT_TRUE(always_drops);
  for (const VerifyRow& row : verified(*model, "plain")) {
    EXPECT_TRUE(row.bit_equal) << all_cuts(*model)[row.cut].name << row.failure;
  }
  const auto trained = open("trained", "4");
  ASSERT_TRUE(trained) << trained.error().message;
  EXPECT_TRUE(trained->graph().operators.back().trains) << "a traced nn.Dropout was in training";
}

TEST_F(Kinds, LongLoopsStayWhole) {
  expect_as_in_python("long", "4", 4);
  const auto model = open("long", "4");
  EXPECT_LT(model->graph().operators.size(), 20U);
  const auto loop = std::ranges::find(model->graph().operators, "prim::Loop", &Operator::kind);
  ASSERT_NE(loop, model->graph().operators.end());
  EXPECT_EQ(loop->steps, 3000);
  EXPECT_EQ(std::ranges::count(test::kinds(model->graph()), "aten::tanh"), 3);
}

TEST_F(Kinds, WhatCannotBeCutSaysWhy) {
  const auto model = open("only_loop", "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto chosen = select_split_points(*model, "all");
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().message,
              AllOf(HasSubstr("only_loop cannot be cut: the whole model is one loop"),
                    HasSubstr("one device")));
}

TEST_F(Kinds, ABufferThatIsWrittenIsKnown) {
  const auto model = open("past", "4");
  ASSERT_TRUE(model) << model.error().message;
  const auto& weights = model->graph().weights;
  EXPECT_EQ(std::ranges::count_if(weights, &GraphWeight::is_written), 1);
  EXPECT_TRUE(std::ranges::find(weights, "past", &GraphWeight::name)->is_written);
}

TEST_F(Kinds, DevicesThatTheCodeNamesAreThisOne) {
  const auto model = open("gpu", "4");
  ASSERT_TRUE(model) << model.error().message;
  for (const VerifyRow& row : verified(*model, "plain")) EXPECT_TRUE(row.bit_equal) << row.failure;
}

TEST_F(Kinds, HalfPrecisionAndOptimisedFilesSayWhatToDo) {
  // LibTorch 1 has no such convolutions for CPUs.
  if (const auto half = open("half", "3x8x8:float16"); half) {
    EXPECT_TRUE(half->run_whole(half->example_inputs(2, 0).value()));
  } else {
    EXPECT_THAT(half.error().message, AllOf(HasSubstr("half precision"), HasSubstr("float()")));
  }
  EXPECT_THAT(open_error("optimised", "3x8x8"), HasSubstr("optimize_for_inference"));
}

}  // namespace
}  // namespace pareto::model
