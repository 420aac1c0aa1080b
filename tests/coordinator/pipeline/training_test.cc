// Models trained by real daemons, against the uncut model trained in this process: the same losses,
// parameters, statistics and optimiser, bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/sweep/sweep.h"
#include "coordinator/train/device_pipeline.h"
#include "coordinator/train/local_pipeline.h"
#include "partitioner/model/zoo/losses.h"
#include "partitioner/model/zoo/model_builder.h"
#include "tests/coordinator/support/memory_store.h"

namespace pareto::train {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kClasses = 10;
constexpr std::int64_t kRows = 4;

/// Samples of pictures and labels that follow from a seed.
std::vector<MicroBatch> make_batch(std::uint64_t seed, int parts) {
  std::vector<MicroBatch> batch;
  for (int part = 0; part < parts; ++part) {
    const std::uint64_t own = seed * 100 + static_cast<std::uint64_t>(part);
    ValueSpec picture;
    picture.kind = ValueSpec::Kind::kTensor;
    picture.tensor.dims = {{0, 1}, {3, 0}, {64, 0}, {64, 0}};
    ValueSpec label;
    label.kind = ValueSpec::Kind::kTensor;
    label.range = IntegerRange{0, kClasses - 1};
    label.tensor = {DType::kInt64, {{0, 1}}};
    batch.push_back({{make_example(picture, kRows, own).value()},
                     make_example(label, kRows, own).value(),
                     kRows});
  }
  return batch;
}

class DevicesThatTrain : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = new cluster::Cluster(
        cluster::Cluster::start_local(2, std::filesystem::path(PARETO_BIN_DIR) / "paretod")
            .value());
  }
  static void TearDownTestSuite() { delete cluster_; }

  void use(const std::string& name) {
    model::zoo::ModelOptions options;
    options.num_classes = kClasses;
    options.input = model::parse_input_shapes("3x64x64").value();
    model_.emplace(model::zoo::open_model(name, options).value());
    loss_.emplace(model::zoo::open_loss("cross-entropy", *model_).value());
    workload_.emplace(*model_);
    pool_.emplace(*workload_);
    settings_.optimiser = {.name = "sgd", .momentum = 0.9, .weight_decay = 1e-4};
  }

  /// A plan whose stages are on the devices of these numbers, cut evenly.
  plan::Plan plan_over(const std::vector<std::size_t>& devices,
                       const std::string& transport = "tcp") const {
    plan::Plan plan;
    plan.transport = transport;
    plan.settings.threads = 1;
    const auto end = static_cast<std::int64_t>(model_->graph().operators.size());
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      std::int64_t cut = end;
      if (i + 1 < devices.size()) {
        const std::int64_t wanted =
            end * static_cast<std::int64_t>(i + 1) / static_cast<std::int64_t>(devices.size());
        const auto point = std::ranges::find_if(
            model_->split_points(), [&](const auto& p) { return p.legal && p.position >= wanted; });
        cut = point->position;
        plan.splits.push_back(point->name);
      }
      plan.stages.push_back(
          {.device = cluster_->device(devices[i]).config().name, .begin = begin, .end = cut});
      begin = cut;
    }
    return plan;
  }

  Expected<std::unique_ptr<DevicePipeline>> deploy(
      const plan::Plan& plan, const std::vector<plan::StateTensor>& state = {}) {
    return DevicePipeline::open(*model_, *loss_, plan, settings_, state, *cluster_, *pool_,
                                transports_);
  }
  std::unique_ptr<TrainingPipeline> uncut(const std::vector<plan::StateTensor>& state = {}) {
    return open_local_pipeline(*model_, *loss_, plan_over({0}), settings_, state, 1).value();
  }

  /// Trains both on the same batches and compares everything.
  void expect_equal(TrainingPipeline& cut, TrainingPipeline& whole, int steps, int parts,
                    double clip = 0) {
    for (int step = 0; step < steps; ++step) {
      const auto batch = make_batch(static_cast<std::uint64_t>(step), parts);
      const StepOrder order{.seed = 5,
                            .step = static_cast<std::uint64_t>(step),
                            .learning_rate = 0.002,
                            .clip_norm = clip};
      const auto one = cut.step(batch, order);
      const auto other = whole.step(batch, order);
      ASSERT_TRUE(one) << one.error().message;
      ASSERT_TRUE(other) << other.error().message;
      EXPECT_EQ(one->loss, other->loss) << "step " << step;
      EXPECT_TRUE(std::isfinite(one->loss));
      EXPECT_EQ(one->correct, other->correct);
      EXPECT_EQ(one->gradient_norm, other->gradient_norm);
    }
    expect_equal_states(cut, whole);
  }

  static void expect_equal_states(TrainingPipeline& cut, TrainingPipeline& whole) {
    const auto states = std::pair(cut.state(), whole.state());
    ASSERT_TRUE(states.first) << states.first.error().message;
    ASSERT_TRUE(states.second) << states.second.error().message;
    ASSERT_EQ(states.first->size(), states.second->size());
    for (std::size_t i = 0; i < states.first->size(); ++i) {
      const plan::StateTensor& one = (*states.first)[i];
      const plan::StateTensor& other = (*states.second)[i];
      ASSERT_EQ(one.name, other.name);
      EXPECT_TRUE(bit_equal(one.tensor, other.tensor)) << one.name;
    }
  }

  inline static cluster::Cluster* cluster_ = nullptr;
  cluster::TransportSet transports_;
  std::optional<model::Model> model_;
  std::optional<model::Model> loss_;
  std::optional<cluster::ModelWorkload> workload_;
  std::optional<cluster::ShardPool> pool_;
  plan::TrainingSettings settings_;
};

TEST_F(DevicesThatTrain, GiveTheBitsOfTheUncutModel) {
  for (const std::string name : {"resnet18", "mobilenetv2"}) {
    SCOPED_TRACE(name);
    use(name);
    const auto whole = uncut();
    const auto cut = deploy(plan_over({0, 1}));
    ASSERT_TRUE(cut) << cut.error().message;
    expect_equal(**cut, *whole, 20, 1);
    pool_.reset();
  }
}

TEST_F(DevicesThatTrain, GiveThemInEveryOrderOfPassesOverEveryTransport) {
  use("mobilenetv2");
  for (const std::string order : {"1f1b", "fill-drain"}) {
    for (const std::string transport : {"tcp", "grpc"}) {
      SCOPED_TRACE(order + " over " + transport);
      settings_.order = order;
      const auto whole = uncut();
      const auto cut = deploy(plan_over({0, 1}, transport));
      ASSERT_TRUE(cut) << cut.error().message;
      expect_equal(**cut, *whole, 3, 4, /*clip=*/1.5);
    }
  }
}

TEST_F(DevicesThatTrain, MayHoldBothEndsOfAModel) {
  use("mobilenetv2");
  settings_.optimiser = {.name = "adamw", .weight_decay = 0.01};
  const auto whole = uncut();
  const auto cut = deploy(plan_over({0, 1, 0}));
  ASSERT_TRUE(cut) << cut.error().message;
  expect_equal(**cut, *whole, 4, 3);
}

TEST_F(DevicesThatTrain, GoOnFromAState) {
  use("mobilenetv2");
  settings_.optimiser = {.name = "adam"};
  const auto whole = uncut();
  std::vector<plan::StateTensor> state;
  {
    const auto cut = deploy(plan_over({0, 1}));
    ASSERT_TRUE(cut) << cut.error().message;
    expect_equal(**cut, *whole, 2, 2);
    state = (*cut)->state().value();
  }
  const auto other = deploy(plan_over({1, 0, 1}), state);
  ASSERT_TRUE(other) << other.error().message;
  expect_equal(**other, *whole, 2, 2);
}

TEST_F(DevicesThatTrain, EvaluateBetweenSteps) {
  use("mobilenetv2");
  const auto whole = uncut();
  const auto cut = deploy(plan_over({0, 1}));
  ASSERT_TRUE(cut) << cut.error().message;
  expect_equal(**cut, *whole, 1, 2);
  const auto inputs = make_batch(77, 1).front().inputs;
  const auto one = (*cut)->evaluate(inputs);
  const auto other = whole->evaluate(inputs);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(other) << other.error().message;
  ASSERT_EQ(one->size(), other->size());
  EXPECT_TRUE(bit_equal(one->front(), other->front()));
  expect_equal(**cut, *whole, 1, 2);
}

TEST_F(DevicesThatTrain, SayWhichBatchIsWrong) {
  use("mobilenetv2");
  const auto cut = deploy(plan_over({0, 1}));
  ASSERT_TRUE(cut) << cut.error().message;
  auto batch = make_batch(1, 2);
  batch[1].target = batch[1].inputs[0];
  const auto failed = (*cut)->step(batch, {.learning_rate = 0.1});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kInvalidArgument) << failed.error().message;
  EXPECT_THAT(failed.error().message, HasSubstr("stage 1 on "));
}

TEST_F(DevicesThatTrain, AreSweptByStepsOfTraining) {
  use("mobilenetv2");
  sweep::SweepOptions options;
  options.train = true;
  options.transports = {"tcp"};
  options.splits = "after:features.4,after:features.11";
  options.batches = {4};
  options.micro_batches = {2};
  options.requests = 4;
  options.rounds = 1;
  auto run = sweep::make_run(*model_, *cluster_, options, "sweep --train").value();
  test::MemoryStore store;
  const std::atomic<bool> stop{false};
  const auto done =
      sweep::run_sweep(*model_, *cluster_, options, run, store, stop, nullptr, &*loss_);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(run.trials.size(), 4U) << "two cuts, and each device by itself";
  for (const results::TrialRecord& trial : run.trials) {
    EXPECT_EQ(trial.status, results::TrialStatus::kOk) << trial.failure;
    ASSERT_EQ(trial.rounds.size(), 1U);
    EXPECT_EQ(trial.rounds[0].latency_ms.size(), 4U);
    EXPECT_EQ(trial.rounds[0].window, 2) << "two micro-batches";
    for (const auto& stage : trial.stages) EXPECT_EQ(stage.engine, "training");
  }
}

}  // namespace
}  // namespace pareto::train
