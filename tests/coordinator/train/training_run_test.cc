#include "coordinator/train/training_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "fake_pipeline.h"

namespace pareto::train {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class TrainingRunTest : public testing::Test, public TrainingObserver {
 protected:
  void SetUp() override {
    setup_.plan.model = "fake";
    setup_.plan.stages = {{.device = "a", .begin = 0, .end = 2}};
    setup_.batches = {.batch = 4, .seed = 9};
    setup_.micro_batches = 2;
    setup_.epochs = 3;
    setup_.rate.schedule = kCosineRate;
    setup_.data = {.spec = "small", .samples = 22, .classes = 2};
  }

  void on_step(const StepReport& step) override { steps_.push_back(step); }
  void on_epoch(const EpochRecord& epoch) override { epochs_.push_back(epoch); }
  void on_checkpoint(const fs::path& path) override { written_.push_back(path.filename()); }

  TrainingParts parts(FakePipeline& pipeline, CheckpointFolder* checkpoints,
                      std::int64_t every = 0) {
    return {.pipeline = pipeline,
            .data = data_,
            .validation = &validation_,
            .checkpoints = checkpoints,
            .checkpoint_every = every,
            .stop = stop_,
            .observer = *this,
            .clock = clock_};
  }

  CheckpointFolder open_folder(std::size_t keep = 3) {
    auto folder = CheckpointFolder::open(folder_.path() / "checkpoints", keep);
    EXPECT_TRUE(folder) << folder.error().message;
    return *std::move(folder);
  }

  /// Trains without a stop.
  TrainingOutcome whole() {
    FakePipeline pipeline;
    const auto outcome = run_training(setup_, parts(pipeline, nullptr), {}, {});
    EXPECT_TRUE(outcome) << outcome.error().message;
    steps_.clear();
    epochs_.clear();
    return outcome.value();
  }

  static void expect_same_bits(const TrainingOutcome& one, const TrainingOutcome& other) {
    ASSERT_EQ(one.state.size(), other.state.size());
    for (std::size_t i = 0; i < one.state.size(); ++i) {
      EXPECT_EQ(one.state[i].name, other.state[i].name);
      EXPECT_TRUE(bit_equal(one.state[i].tensor, other.state[i].tensor)) << one.state[i].name;
    }
    EXPECT_EQ(one.progress.position, other.progress.position);
    EXPECT_EQ(one.progress.history.losses, other.progress.history.losses);
    ASSERT_EQ(one.progress.history.epochs.size(), other.progress.history.epochs.size());
    for (std::size_t i = 0; i < one.progress.history.epochs.size(); ++i) {
      const EpochRecord& a = one.progress.history.epochs[i];
      const EpochRecord& b = other.progress.history.epochs[i];
      EXPECT_EQ(a.sums.loss, b.sums.loss);
      EXPECT_EQ(a.sums.samples, b.sums.samples);
      EXPECT_EQ(a.validation->cross_entropy, b.validation->cross_entropy);
    }
  }

  TemporaryFolder folder_ = TemporaryFolder::create("pareto-train-test").value();
  SmallData data_{22, 2};
  SmallData validation_{9, 2};
  std::atomic<bool> stop_{false};
  SteadyClock clock_;
  TrainingSetup setup_;
  std::vector<StepReport> steps_;
  std::vector<EpochRecord> epochs_;
  std::vector<std::string> written_;
};

TEST_F(TrainingRunTest, RunsEveryStepOfEveryEpoch) {
  FakePipeline pipeline;
  const auto outcome = run_training(setup_, parts(pipeline, nullptr), {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, TrainingEnd::kDone);
  EXPECT_EQ(outcome->progress.position,
            (TrainingPosition{.epoch = 3, .step_in_epoch = 0, .step = 18, .micro_batches = 36}));
  ASSERT_THAT(steps_, SizeIs(18));
  EXPECT_EQ(steps_[7].epoch, 1);
  EXPECT_EQ(steps_[7].step_in_epoch, 1);
  EXPECT_EQ(steps_[7].step, 7);
  // The last batch of an epoch is smaller.
  EXPECT_EQ(steps_[5].outcome.samples, 2);
  EXPECT_THAT(pipeline.rates, SizeIs(36));
  EXPECT_DOUBLE_EQ(pipeline.rates.front(), setup_.rate.base);
  EXPECT_LT(pipeline.rates.back(), 0.1 * setup_.rate.base);
  ASSERT_THAT(epochs_, SizeIs(3));
  EXPECT_EQ(epochs_[1].step, 12);
  EXPECT_EQ(epochs_[1].sums.samples, 22);
  EXPECT_EQ(epochs_[1].sums.stages[1].bytes_sent, 42);
  EXPECT_EQ(epochs_[1].validation->samples, 9);
  // Half of each micro-batch of two, and none of those with one.
  EXPECT_EQ(epochs_[1].sums.correct, 10);
}

TEST_F(TrainingRunTest, WritesCheckpointsAtTheBeginningAndAsAsked) {
  FakePipeline pipeline;
  CheckpointFolder folder = open_folder(/*keep=*/2);
  const auto outcome = run_training(setup_, parts(pipeline, &folder, /*every=*/4), {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(written_, ElementsAre("step-000000000000", "step-000000000004", "step-000000000006",
                                    "step-000000000008", "step-000000000012", "step-000000000016",
                                    "step-000000000018"));
  EXPECT_THAT(folder.checkpoints(), SizeIs(2));
  EXPECT_EQ(outcome->checkpoint->filename(), "step-000000000018");
}

TEST_F(TrainingRunTest, GoesOnFromEveryCheckpointWithTheSameBits) {
  const TrainingOutcome expected = whole();
  {
    FakePipeline pipeline;
    CheckpointFolder folder = open_folder(/*keep=*/100);
    ASSERT_TRUE(run_training(setup_, parts(pipeline, &folder, /*every=*/1), {}, {}));
  }
  for (std::int64_t step = 0; step <= 18; ++step) {
    const fs::path path = folder_.path() / "checkpoints" / fmt::format("step-{:012}", step);
    auto checkpoint = read_checkpoint(path);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    EXPECT_THAT(differences(checkpoint->setup, setup_), testing::IsEmpty());
    FakePipeline pipeline(checkpoint->state);
    const auto outcome =
        run_training(setup_, parts(pipeline, nullptr), std::move(checkpoint->progress), path);
    ASSERT_TRUE(outcome) << outcome.error().message;
    expect_same_bits(expected, *outcome);
  }
}

TEST_F(TrainingRunTest, StopsAfterTheStepInHandWithACheckpoint) {
  const TrainingOutcome expected = whole();
  FakePipeline pipeline;
  pipeline.on_step = [&](std::uint64_t step) { stop_ = step == 7; };
  {
    CheckpointFolder folder = open_folder();
    const auto outcome = run_training(setup_, parts(pipeline, &folder), {}, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->end, TrainingEnd::kStopped);
    EXPECT_EQ(outcome->progress.position.step, 8);
    EXPECT_EQ(outcome->checkpoint->filename(), "step-000000000008");
  }
  stop_ = false;
  auto found = newest_checkpoint(folder_.path() / "checkpoints");
  ASSERT_TRUE(found) << found.error().message;
  FakePipeline next(found->checkpoint.state);
  const auto outcome = run_training(setup_, parts(next, nullptr),
                                    std::move(found->checkpoint.progress), found->path);
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_same_bits(expected, *outcome);
}

TEST_F(TrainingRunTest, StopsInAValidationAndDoesItAgain) {
  const TrainingOutcome expected = whole();
  FakePipeline pipeline;
  pipeline.on_evaluate = [&] { stop_ = true; };
  {
    CheckpointFolder folder = open_folder();
    const auto outcome = run_training(setup_, parts(pipeline, &folder), {}, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->end, TrainingEnd::kStopped);
    EXPECT_EQ(outcome->progress.position.step_in_epoch, 6);
    EXPECT_THAT(epochs_, testing::IsEmpty());
  }
  stop_ = false;
  auto found = newest_checkpoint(folder_.path() / "checkpoints");
  ASSERT_TRUE(found) << found.error().message;
  FakePipeline next(found->checkpoint.state);
  const auto outcome = run_training(setup_, parts(next, nullptr),
                                    std::move(found->checkpoint.progress), found->path);
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_same_bits(expected, *outcome);
}

TEST_F(TrainingRunTest, KeepsAnEpochWhoseValidationFails) {
  const TrainingOutcome expected = whole();
  validation_.break_sample(3);
  {
    FakePipeline pipeline;
    CheckpointFolder folder = open_folder();
    const auto outcome = run_training(setup_, parts(pipeline, &folder), {}, {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(outcome.error().message,
                testing::AllOf(HasSubstr("(epoch 1): validation: "), HasSubstr("no picture"),
                               HasSubstr("--resume goes on from it")));
  }
  validation_.break_sample(-1);
  auto found = newest_checkpoint(folder_.path() / "checkpoints");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->checkpoint.progress.position.step_in_epoch, 6);
  FakePipeline next(found->checkpoint.state);
  const auto outcome = run_training(setup_, parts(next, nullptr),
                                    std::move(found->checkpoint.progress), found->path);
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_same_bits(expected, *outcome);
}

TEST_F(TrainingRunTest, EndsAtALossThatIsNoNumber) {
  FakePipeline pipeline;
  pipeline.nan_at = 10;
  CheckpointFolder folder = open_folder();
  const auto outcome = run_training(setup_, parts(pipeline, &folder, /*every=*/4), {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, TrainingEnd::kNotFinite);
  EXPECT_THAT(outcome->reason,
              HasSubstr("step 10 (epoch 2): its loss is NaN; the training has diverged"));
  EXPECT_EQ(outcome->checkpoint->filename(), "step-000000000008");
  EXPECT_EQ(folder.checkpoints().front().filename(), "step-000000000008");
  EXPECT_THAT(outcome->state, testing::IsEmpty());
}

// The step that breaks the weights still has a loss; its checkpoint would be lost.
TEST_F(TrainingRunTest, WritesNoCheckpointOfWeightsThatAreNoNumbers) {
  FakePipeline pipeline;
  pipeline.nan_weight_at = 7;
  CheckpointFolder folder = open_folder();
  const auto outcome = run_training(setup_, parts(pipeline, &folder, /*every=*/4), {}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->end, TrainingEnd::kNotFinite);
  EXPECT_THAT(outcome->reason, HasSubstr("\"weight\" has become NaN; the training has diverged"));
  EXPECT_EQ(folder.checkpoints().front().filename(), "step-000000000006");
}

TEST_F(TrainingRunTest, SaysWhereADeviceWasLostAndWhatIsLeft) {
  FakePipeline pipeline;
  pipeline.fails_at = 9;
  CheckpointFolder folder = open_folder();
  const auto outcome = run_training(setup_, parts(pipeline, &folder, /*every=*/4), {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(outcome.error().message, HasSubstr("step 9 (epoch 2): device \"b\" is lost"));
  EXPECT_THAT(outcome.error().message, HasSubstr("step-000000000008"));
}

TEST_F(TrainingRunTest, NamesASampleThatCannotBeRead) {
  data_.break_sample(7);
  FakePipeline pipeline;
  const auto outcome = run_training(setup_, parts(pipeline, nullptr), {}, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(outcome.error().message, HasSubstr("cat/7.png"));
}

TEST_F(TrainingRunTest, RefusesAPositionThatTheDataDoesNotHave) {
  FakePipeline pipeline;
  TrainingProgress progress;
  progress.position = {.epoch = 1, .step_in_epoch = 0, .step = 7};
  const auto outcome = run_training(setup_, parts(pipeline, nullptr), progress, {});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("other data"));
}

TEST_F(TrainingRunTest, KeepsACurveOfBoundedSize) {
  LossCurve curve;
  for (std::int64_t i = 0; i < 5000; ++i) curve.add(i, static_cast<double>(i));
  EXPECT_LE(curve.points().size(), LossCurve::kMostPoints);
  std::int64_t step = 0;
  for (const LossCurve::Point& point : curve.points()) {
    EXPECT_EQ(point.step, step);
    step += point.steps;
    EXPECT_DOUBLE_EQ(point.loss(),
                     static_cast<double>(point.step) + static_cast<double>(point.steps - 1) / 2);
  }
  EXPECT_EQ(step, 5000);
}

}  // namespace
}  // namespace pareto::train
