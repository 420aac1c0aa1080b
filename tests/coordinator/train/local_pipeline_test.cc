// Real models, trained in this process.
#include "coordinator/train/local_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/data/open_data_set.h"
#include "coordinator/train/step_numbers.h"
#include "coordinator/train/training_run.h"
#include "coordinator/train/training_stages.h"
#include "core/base/file.h"
#include "partitioner/model/zoo/losses.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::train {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kClasses = 4;

/// A model with norms and dropout, and samples that it can take.
class LocalPipelineTest : public testing::Test, public TrainingObserver {
 protected:
  static void SetUpTestSuite() {
    model::zoo::ModelOptions options;
    options.num_classes = kClasses;
    options.input = model::parse_input_shapes("3x32x32").value();
    model_ = new model::Model(model::zoo::open_model("mobilenetv2", options).value());
    loss_ = new model::Model(model::zoo::open_loss("cross-entropy", *model_).value());
    data::DataSetOptions data;
    data.part = data::Part::kTrain;
    data.input_shape = {3, 32, 32};
    data.samples = 12;
    data_ = data::open_data_set("synthetic:4", data).value().release();
  }
  static void TearDownTestSuite() {
    delete model_;
    delete loss_;
    delete data_;
  }

  void SetUp() override {
    setup_.plan = plan_cut_at({});
    setup_.settings.optimiser = {.name = "sgd", .momentum = 0.9, .weight_decay = 1e-4};
    setup_.rate.base = 0.05;
    setup_.batches = {.batch = 4, .seed = 3};
    setup_.micro_batches = 2;
    setup_.epochs = 1;
    setup_.data = {.spec = "synthetic", .samples = data_->size(), .classes = data_->classes()};
  }

  void on_step(const StepReport& step) override { steps_.push_back(step); }

  static plan::Plan plan_cut_at(const std::vector<std::string>& splits) {
    plan::Plan plan;
    plan.model = "mobilenetv2";
    plan.splits = splits;
    std::int64_t begin = 0;
    for (const std::string& split : splits) {
      const auto chosen = model::select_split_points(*model_, split).value();
      const std::int64_t position = model_->split_points()[chosen.front()].position;
      plan.stages.push_back({.device = "here", .begin = begin, .end = position});
      begin = position;
    }
    const auto end = static_cast<std::int64_t>(model_->graph().operators.size());
    plan.stages.push_back({.device = "here", .begin = begin, .end = end});
    return plan;
  }

  Expected<std::unique_ptr<TrainingPipeline>> open(
      const std::vector<plan::StateTensor>& state = {}) {
    return open_local_pipeline(*model_, *loss_, setup_.plan, setup_.settings, state, /*threads=*/1);
  }

  TrainingOutcome train(TrainingPipeline& pipeline, TrainingProgress begin = {}) {
    const TrainingParts parts{.pipeline = pipeline,
                              .data = *data_,
                              .validation = data_,
                              .stop = stop_,
                              .observer = *this,
                              .clock = clock_};
    auto outcome = run_training(setup_, parts, std::move(begin), {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->end, TrainingEnd::kDone) << outcome->reason;
    return *std::move(outcome);
  }

  TrainingOutcome train_with_cuts(const std::vector<std::string>& splits) {
    setup_.plan = plan_cut_at(splits);
    auto pipeline = open();
    EXPECT_TRUE(pipeline) << pipeline.error().message;
    return train(**pipeline);
  }

  static const Tensor& named(const std::vector<plan::StateTensor>& state, const std::string& name) {
    return std::ranges::find(state, name, &plan::StateTensor::name)->tensor;
  }

  static void expect_same(const std::vector<plan::StateTensor>& one,
                          const std::vector<plan::StateTensor>& other) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(one[i].name, other[i].name);
      EXPECT_TRUE(bit_equal(one[i].tensor, other[i].tensor)) << one[i].name;
    }
  }

  static model::Model* model_;
  static model::Model* loss_;
  static data::DataSet* data_;
  TrainingSetup setup_;
  std::atomic<bool> stop_{false};
  SteadyClock clock_;
  std::vector<StepReport> steps_;
};

model::Model* LocalPipelineTest::model_ = nullptr;
model::Model* LocalPipelineTest::loss_ = nullptr;
data::DataSet* LocalPipelineTest::data_ = nullptr;

TEST_F(LocalPipelineTest, CutsChangeNoBit) {
  setup_.clip_norm = 0.5;
  const TrainingOutcome whole = train_with_cuts({});
  ASSERT_EQ(steps_.size(), 3U);
  EXPECT_GT(steps_[0].outcome.gradient_norm, 0.5);
  const double first_loss = steps_[0].outcome.loss;
  const TrainingOutcome cut = train_with_cuts({"after:features.3", "after:features.11"});
  expect_same(whole.state, cut.state);
  EXPECT_EQ(whole.progress.history.epochs.front().sums.loss,
            cut.progress.history.epochs.front().sums.loss);
  EXPECT_EQ(steps_[3].outcome.loss, first_loss);
  EXPECT_EQ(steps_[3].outcome.gradient_norm, steps_[0].outcome.gradient_norm);
  EXPECT_EQ(steps_[3].outcome.stages.size(), 3U);
  EXPECT_EQ(whole.progress.history.epochs.front().validation->cross_entropy,
            cut.progress.history.epochs.front().validation->cross_entropy);
}

TEST_F(LocalPipelineTest, GoesOnFromItsStateWithTheSameBits) {
  setup_.settings.optimiser = {.name = "adamw", .weight_decay = 0.01};
  setup_.rate.base = 1e-3;
  setup_.epochs = 2;
  const TrainingOutcome expected = train_with_cuts({"after:features.7"});
  setup_.epochs = 1;
  const TrainingOutcome half = train_with_cuts({"after:features.7"});
  setup_.epochs = 2;
  auto pipeline = open(half.state);
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  const TrainingOutcome whole = train(**pipeline, half.progress);
  expect_same(expected.state, whole.state);
}

TEST_F(LocalPipelineTest, FrozenPartsStayAsTheyAre) {
  // Two samples of one pixel each are all that the last layers are normalised by: without a bound
  // the loss is no number on some processors.
  setup_.clip_norm = 0.5;
  setup_.settings.frozen = {"features.0", "features.1"};
  auto pipeline = open();
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  const auto before = (*pipeline)->state();
  ASSERT_TRUE(before);
  const TrainingOutcome outcome = train(**pipeline);
  for (const char* name :
       {"features.0.0.weight", "features.0.1.running_mean", "features.1.conv.1.weight"}) {
    EXPECT_TRUE(bit_equal(named(*before, name), named(outcome.state, name))) << name;
  }
  for (const char* name :
       {"features.2.conv.0.0.weight", "features.2.conv.0.1.running_mean", "classifier.1.bias"}) {
    EXPECT_FALSE(bit_equal(named(*before, name), named(outcome.state, name))) << name;
  }
}

// At 32 x 32 the last norms see one value a sample.
TEST_F(LocalPipelineTest, SaysWhyANormOfOneValueIsNoNumber) {
  setup_.batches.batch = 1;
  setup_.micro_batches = 1;
  auto pipeline = open();
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  const TrainingParts parts{
      .pipeline = **pipeline, .data = *data_, .stop = stop_, .observer = *this, .clock = clock_};
  const auto outcome = run_training(setup_, parts, {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, TrainingEnd::kNotFinite);
  EXPECT_THAT(outcome->reason, HasSubstr("has become NaN: a norm had one value of each channel"));
}

TEST_F(LocalPipelineTest, NamesWhatCannotBeTrained) {
  const auto refusal = [&] {
    const auto pipeline = open();
    return pipeline ? std::string("opened") : pipeline.error().message;
  };
  setup_.settings.frozen = {"features.99"};
  EXPECT_THAT(refusal(), HasSubstr("no parameter at or under \"features.99\" (did you mean"));
  setup_.settings.frozen = {"classifier"};
  EXPECT_EQ(refusal(), "opened");
  setup_.plan = plan_cut_at({"after:features.18"});
  EXPECT_THAT(refusal(), HasSubstr("behind after:features.18 there is no parameter to train"));
  setup_.plan = plan_cut_at({});
  setup_.settings.frozen = {"classifier", "features"};
  EXPECT_THAT(refusal(), HasSubstr("all of them are frozen"));
  setup_.settings.frozen = {};
  const auto unknown = open({{"nobody.weight", Tensor()}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("nobody.weight"));
}

TEST(StepNumbers, ClipAsPyTorchDoes) {
  EXPECT_DOUBLE_EQ(total_norm({{"b", 4}, {"a", 3}}), 5);
  EXPECT_EQ(clip_scale(5, 0), 1);
  EXPECT_EQ(clip_scale(0.5, 1), 1);
  EXPECT_DOUBLE_EQ(clip_scale(5, 1), 1 / (5 + 1e-6));
}

TEST(StepNumbers, SeedsDifferByEverything) {
  const StepOrder order{.seed = 1, .step = 2};
  const std::int64_t seed = random_seed(order, 3);
  EXPECT_EQ(random_seed({.seed = 1, .step = 2}, 3), seed);
  EXPECT_NE(random_seed({.seed = 1, .step = 3}, 2), seed);
  EXPECT_NE(random_seed({.seed = 2, .step = 1}, 3), seed);
  EXPECT_NE(random_seed(order, 4), seed);
}

TEST(StepNumbers, MicroBatchesCountByTheirShare) {
  const std::vector<MicroBatch> batch{{{}, {}, 3}, {{}, {}, 1}};
  StepOutcome step;
  add_outcome({2, 3}, share_of(batch[0], batch), 3, step);
  add_outcome({4, 0}, share_of(batch[1], batch), 1, step);
  EXPECT_DOUBLE_EQ(step.loss, 2.5);
  EXPECT_EQ(step.samples, 4);
  EXPECT_EQ(step.correct, 3);
}

}  // namespace
}  // namespace pareto::train
