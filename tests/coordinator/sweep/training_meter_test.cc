#include "coordinator/sweep/training_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/coordinator/load/fake_pipeline.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::sweep {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;
using testing::SizeIs;

std::vector<std::int64_t> labels_of(const train::MicroBatch& part) {
  const Tensor* tensor = part.target.get_if<Tensor>();
  if (tensor == nullptr || tensor->dtype() != DType::kInt64) return {};
  std::vector<std::int64_t> labels(tensor->size_bytes() / sizeof(std::int64_t));
  std::memcpy(labels.data(), tensor->bytes().data(), tensor->size_bytes());
  return labels;
}

plan::Plan plan_of(std::int64_t batch, std::int64_t micro_batch = 0) {
  plan::Plan plan;
  plan.stages = {{"a", 0, 1}};
  plan.batch = batch;
  plan.micro_batch = micro_batch;
  return plan;
}

TEST(TrainingSizes, AddUpToTheBatch) {
  EXPECT_THAT(training_sizes(plan_of(4)), ElementsAre(4));
  EXPECT_THAT(training_sizes(plan_of(4, 2)), ElementsAre(2, 2));
  EXPECT_THAT(training_sizes(plan_of(5, 2)), ElementsAre(2, 2, 1));
  EXPECT_THAT(training_sizes(plan_of(4, 4)), ElementsAre(4));
  EXPECT_THAT(training_sizes(plan_of(1, 1)), ElementsAre(1));
}

TEST(MeasuredTraining, IsPlainSgdWithMomentum) {
  const plan::TrainingSettings settings = measured_training();
  EXPECT_EQ(settings.optimiser, (plan::Optimiser{.name = "sgd", .momentum = 0.9}));
  EXPECT_TRUE(settings.frozen.empty());
  EXPECT_FALSE(settings.bf16);
}

class ExampleBatch : public testing::Test {
 protected:
  model::Model model_ = test::small_model();
  cluster::ModelWorkload workload_{model_};
};

TEST_F(ExampleBatch, HasALabelOfTheModelsClassesForEachSample) {
  const auto batch = example_batch(model_, plan_of(40, 16), workload_);
  ASSERT_TRUE(batch) << batch.error().message;
  ASSERT_THAT(*batch, SizeIs(3));
  std::int64_t samples = 0;
  for (const train::MicroBatch& part : *batch) {
    EXPECT_EQ(tensors_of(part.inputs).at(0)->shape().front(), part.samples);
    EXPECT_THAT(labels_of(part),
                AllOf(SizeIs(static_cast<std::size_t>(part.samples)), Each(AllOf(Ge(0), Lt(10)))));
    samples += part.samples;
  }
  EXPECT_EQ(samples, 40);
}

TEST_F(ExampleBatch, IsTheSameEachTimeAndAnotherInEachPart) {
  const auto once = example_batch(model_, plan_of(16, 8), workload_).value();
  const auto again = example_batch(model_, plan_of(16, 8), workload_).value();
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_TRUE(bit_equal(once[i].inputs.front(), again[i].inputs.front()));
    EXPECT_TRUE(bit_equal(once[i].target, again[i].target));
  }
  EXPECT_FALSE(bit_equal(once[0].inputs.front(), once[1].inputs.front()));
}

TEST_F(ExampleBatch, IsOnlyForClassifiers) {
  model::zoo::ModelOptions options;
  options.input = {{{3, 64, 64}, DType::kFloat32}};
  const model::Model detector = model::zoo::open_model("yolov8n", options).value();
  cluster::ModelWorkload workload(detector);
  const auto refused = example_batch(detector, plan_of(1), workload);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("yolov8n"), HasSubstr("no row of classes for each sample")));
}

/// Devices that answer steps of training, and compute nothing.
class TrainingMeterTest : public load::FakePipelineTest {
 protected:
  TrainingMeterTest() : load::FakePipelineTest({{"a", 0, 3}, {"b", 3, test::kFakeOperators}}) {
    for (test::FakeDaemon* daemon : daemons_) daemon->serve_training();
    plan_.batch = 5;
    plan_.micro_batch = 2;
  }

  Expected<MeasuredRound> measure(const UnitBudget& budget, bool fresh = true) {
    return meter_.measure(*deployment_, plan_, 7, fresh, budget);
  }
  Error error_of_a_round() {
    auto measured = measure({.latency_requests = 6, .all_requests = true});
    return measured ? Error{ErrorCode::kInternal, "accepted"} : std::move(measured).error();
  }

  model::Model model_ = test::small_model();
  cluster::ModelWorkload samples_{model_};
  TrainingMeter meter_{model_, samples_, milliseconds(300)};
};

TEST_F(TrainingMeterTest, ARequestIsAStepOverTheWholeBatch) {
  for (test::FakeDaemon* daemon : daemons_) daemon->set_operator_time(milliseconds(2), {});
  const auto measured = measure({.latency_requests = 6, .all_requests = true});
  ASSERT_TRUE(measured) << measured.error().message;
  const results::TrialRound& round = measured->round;
  EXPECT_EQ(round.round, 7);
  EXPECT_EQ(round.window, 3) << "micro-batches";
  EXPECT_THAT(round.latency_ms, AllOf(SizeIs(6), Each(Gt(0))));
  ASSERT_THAT(round.intervals_s, SizeIs(6));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(round.intervals_s[i] * 1e3, round.latency_ms[i], 1e-6);
  }
  EXPECT_THAT(round.sink_receive_ms, SizeIs(6));
  ASSERT_THAT(round.stages, SizeIs(2));
  // Forward, and backward twice as long.
  EXPECT_THAT(round.stages[0].compute_ms, AllOf(SizeIs(6), Each(testing::DoubleEq(3 * 2 * 3))));
  EXPECT_THAT(round.stages[1].compute_ms, AllOf(SizeIs(6), Each(testing::DoubleEq(7 * 2 * 3))));
  for (const results::StageSamples& stage : round.stages) {
    EXPECT_EQ(stage.busy_ms, stage.compute_ms);
    EXPECT_THAT(stage.queue_ms, SizeIs(6));
    EXPECT_THAT(stage.receive_ms, SizeIs(6));
    EXPECT_THAT(stage.encode_ms, SizeIs(6));
  }
}

TEST_F(TrainingMeterTest, StepsOfTheWarmUpAreCountedAndNotKept) {
  const UnitBudget budget{.latency_requests = 6, .all_requests = true};
  const auto fresh = measure(budget, true);
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_EQ(fresh->requests, 8);
  EXPECT_THAT(fresh->round.latency_ms, SizeIs(6));
  const auto used = measure(budget, false);
  ASSERT_TRUE(used) << used.error().message;
  EXPECT_EQ(used->requests, 7);
  EXPECT_THAT(used->round.latency_ms, SizeIs(6));
}

TEST_F(TrainingMeterTest, MeasuresFewerStepsIfTheyDoNotFitUnlessAllAreAskedFor) {
  const auto steps = [&](const UnitBudget& budget) {
    const auto measured = measure(budget);
    EXPECT_TRUE(measured);
    return measured ? measured->round.latency_ms.size() : 0;
  };
  EXPECT_EQ(steps({.slice = {}, .latency_requests = 40}), 4U);
  EXPECT_EQ(steps({.slice = {}, .latency_requests = 3}), 3U) << "no more than are asked for";
  EXPECT_EQ(steps({.slice = {}, .latency_requests = 12, .all_requests = true}), 12U);
  EXPECT_EQ(steps({.slice = std::chrono::hours(1), .latency_requests = 12}), 12U);
}

TEST_F(TrainingMeterTest, ADeviceThatDiesInAStepIsNamed) {
  daemons_[1]->die_at_request(4);
  const Error error = error_of_a_round();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("stage 1 on b"));
}

TEST_F(TrainingMeterTest, AnErrorOfAStageEndsTheRound) {
  daemons_[1]->fail_request(1);
  const Error error = error_of_a_round();
  EXPECT_EQ(error.code, ErrorCode::kExhausted);
  EXPECT_THAT(error.message, HasSubstr("stage 1 on b: no memory"));
}

TEST_F(TrainingMeterTest, AStepThatTakesTooLongEndsAtItsLimit) {
  daemons_[0]->hang();
  EXPECT_EQ(error_of_a_round().code, ErrorCode::kTimeout);
}

class StagesThatDoNotTrain : public load::FakePipelineTest {
 protected:
  StagesThatDoNotTrain() : load::FakePipelineTest({{"a", 0, test::kFakeOperators}}) {}
};

TEST_F(StagesThatDoNotTrain, AreNotBelieved) {
  const model::Model model = test::small_model();
  cluster::ModelWorkload samples(model);
  TrainingMeter meter(model, samples, milliseconds(300));
  const auto measured = meter.measure(*deployment_, plan_, 0, true, {});
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, ErrorCode::kCorrupt) << measured.error().message;
}

}  // namespace
}  // namespace pareto::sweep
