#include "coordinator/sweep/training_predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "coordinator/cluster/transport_choice.h"
#include "coordinator/sweep/sweep_plan.h"
#include "partitioner/model/graph/split_points.h"
#include "partitioner/model/zoo/losses.h"
#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/small_model.h"
#include "tests/coordinator/sweep/fake_network.h"

namespace pareto::sweep {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Two devices of this machine that answer steps of training. An operator takes a second there, so
/// that the coordinator's real links are nothing next to it.
class PredictTraining : public testing::Test {
 protected:
  static constexpr double kRate = 1e5;

  PredictTraining() {
    std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
    for (const char* name : {"a", "b"}) {
      auto daemon = std::make_unique<test::FakeDaemon>(name, *transport_);
      daemon->set_place(transport::this_place(), /*serves_shm=*/false);
      daemon->serve_tcp();
      daemon->set_rate_over("tcp", kRate);
      daemon->set_operator_time(seconds(1), {});
      daemon->serve_training();
      daemons_.push_back(daemon.get());
      devices.push_back(std::move(daemon));
    }
    auto network = std::make_unique<FakeNetwork>();
    network_ = network.get();
    cluster_.emplace(cluster::Cluster::of(std::move(devices), std::move(network)));
    options_.train = true;
  }

  std::size_t point() const {
    return model::select_split_points(model_.split_points(), "after:features.6").value().front();
  }

  /// Adds a trial on those devices, and returns its place.
  std::size_t add(const std::vector<std::string>& devices, std::int64_t batch = 1,
                  std::int64_t micro_batch = 0) {
    results::TrialRecord& trial = trials_.emplace_back();
    std::vector<std::size_t> cuts;
    if (devices.size() > 1) cuts.push_back(point());
    trial.plan = make_plan(model_, cuts, devices, batch, options_).value();
    trial.plan.micro_batch = micro_batch;
    trial.plan.set_transports(*cluster::fit_transports({"shm", "tcp", "shm"}, trial.plan.links()));
    return trials_.size() - 1;
  }

  Expected<> predict() {
    return predict_training(model_, loss_, *cluster_, options_, trials_, stop_,
                            [this](const std::string& now, std::size_t done, std::size_t total) {
                              EXPECT_LE(done, total) << now;
                              said_.push_back({now, done, total});
                            });
  }
  Error error_of_it() {
    auto predicted = predict();
    return predicted ? Error{ErrorCode::kInternal, "accepted"} : std::move(predicted).error();
  }

  double step_s(std::size_t trial) const {
    EXPECT_TRUE(trials_[trial].prediction) << trial;
    return trials_[trial].prediction.value_or(results::Prediction{}).latency_ms / 1e3;
  }
  int loads() const { return daemons_[0]->loads() + daemons_[1]->loads(); }

  struct Said {
    std::string now;
    std::size_t done = 0;
    std::size_t total = 0;
  };

  std::unique_ptr<transport::Transport> transport_ = transport::make_transport("shm").value();
  model::Model model_ = test::small_model();
  model::Model loss_ = model::zoo::open_loss("cross-entropy", model_).value();
  double operators_ = static_cast<double>(model_.graph().operators.size());
  std::vector<test::FakeDaemon*> daemons_;
  FakeNetwork* network_ = nullptr;
  std::optional<cluster::Cluster> cluster_;
  SweepOptions options_;
  std::vector<results::TrialRecord> trials_;
  std::atomic<bool> stop_{false};
  std::vector<Said> said_;
};

TEST_F(PredictTraining, OneDeviceTakesBothPassesOfAllOperators) {
  const std::size_t one = add({"a"});
  const std::size_t batch = add({"a"}, 8);
  const std::size_t parts = add({"a"}, 8, 2);
  const auto predicted = predict();
  ASSERT_TRUE(predicted) << predicted.error().message;
  const double passes_s = 3 * operators_;
  EXPECT_NEAR(step_s(one), passes_s, 0.02 * passes_s);
  EXPECT_NEAR(step_s(batch), passes_s, 0.02 * passes_s) << "these devices do not care";
  EXPECT_NEAR(step_s(parts), 4 * passes_s, 0.02 * 4 * passes_s);
  for (const std::size_t trial : {one, batch, parts}) {
    const results::Prediction& prediction = *trials_[trial].prediction;
    EXPECT_NEAR(prediction.samples_per_s,
                static_cast<double>(trials_[trial].plan.batch) / step_s(trial), 1e-6);
    EXPECT_EQ(prediction.window, trial == parts ? 4 : 1);
    EXPECT_EQ(prediction.expected_latency_ms, prediction.latency_ms);
    EXPECT_EQ(prediction.expected_samples_per_s, prediction.samples_per_s);
  }
}

TEST_F(PredictTraining, WhatCrossesACutGoesThereAndBack) {
  const std::size_t one = add({"a"});
  const std::size_t cut = add({"a", "b"});
  const auto predicted = predict();
  ASSERT_TRUE(predicted) << predicted.error().message;
  const std::int64_t position = model_.split_points()[point()].position;
  const auto bytes = model::boundary_bytes(model_.graph(), position, 1).value();
  const double crossing_s = static_cast<double>(bytes) / kRate;
  ASSERT_GT(crossing_s, 0.1);
  EXPECT_NEAR(step_s(cut) - step_s(one), 2 * crossing_s, 0.5 * crossing_s);
}

TEST_F(PredictTraining, MicroBatchesLetBothDevicesCompute) {
  const std::size_t one = add({"a"}, 8, 1);
  const std::size_t cut = add({"a", "b"}, 8, 1);
  const auto predicted = predict();
  ASSERT_TRUE(predicted) << predicted.error().message;
  EXPECT_LT(step_s(cut), 0.95 * step_s(one));
  EXPECT_GT(step_s(cut), 0.5 * step_s(one)) << "two devices are twice as fast at most";
}

TEST_F(PredictTraining, EachDeviceIsProfiledOnceBySettingsAndMicroBatch) {
  add({"a"});
  add({"a", "b"});
  add({"b"});
  add({"a"}, 4, 1);
  const auto predicted = predict();
  ASSERT_TRUE(predicted) << predicted.error().message;
  std::size_t profiles = 0;
  for (const Said& said : said_) profiles += said.now.starts_with("profiling training on ");
  EXPECT_EQ(profiles, 2U);
  for (std::size_t i = 1; i < said_.size(); ++i) EXPECT_GE(said_[i].done, said_[i - 1].done);
  ASSERT_FALSE(said_.empty());
  EXPECT_EQ(said_.back().done, said_.back().total);
  EXPECT_EQ(network_->applied.back(), "none") << "the network is at rest afterwards";
}

TEST_F(PredictTraining, SomePlansHaveNoPredictionAndCostNothing) {
  trials_[add({"a", "b"})].plan.codecs = {"int8"};
  trials_[add({"a", "b"})].plan.stages[1].settings = plan::StageSettings{"plain"};
  trials_[add({"a", "b"})].plan.stages[1].device = "a";
  const std::size_t replicas = add({"a"});
  trials_[replicas].plan.stages.push_back({"b", 0, trials_[replicas].plan.stages[0].end});
  trials_[replicas].plan.replicated = true;
  trials_[add({"a"})].rounds.emplace_back();
  const std::size_t known = add({"a"});
  trials_[known].prediction = results::Prediction{.latency_ms = 7};
  const auto predicted = predict();
  ASSERT_TRUE(predicted) << predicted.error().message;
  for (std::size_t i = 0; i < known; ++i) EXPECT_FALSE(trials_[i].prediction) << i;
  EXPECT_EQ(trials_[known].prediction->latency_ms, 7);
  EXPECT_EQ(loads(), 0);
  EXPECT_TRUE(network_->applied.empty());
  EXPECT_TRUE(said_.empty());
  trials_.clear();
  EXPECT_TRUE(predict());
}

TEST_F(PredictTraining, ANetworkThatCannotBeHadLeavesItsTrialsWithout) {
  const std::size_t at_rest = add({"a"});
  const std::size_t far = add({"a"});
  trials_[far].condition = "unreachable";
  const auto predicted = predict();
  ASSERT_TRUE(predicted) << predicted.error().message;
  EXPECT_TRUE(trials_[at_rest].prediction);
  EXPECT_FALSE(trials_[far].prediction);
  EXPECT_EQ(network_->applied.back(), "none");
}

TEST_F(PredictTraining, ANetworkThatDoesNotComeToRestIsSaidBeforeAnythingIsLoaded) {
  network_->refused = "none";
  add({"a"});
  EXPECT_EQ(error_of_it().code, ErrorCode::kUnavailable);
  EXPECT_EQ(loads(), 0);
}

TEST_F(PredictTraining, AStopEndsItWithoutAPrediction) {
  const std::size_t one = add({"a"});
  stop_ = true;
  const Error error = error_of_it();
  EXPECT_EQ(error.code, ErrorCode::kClosed);
  EXPECT_THAT(error.message, AllOf(StartsWith("profiling training on a: "), HasSubstr("stopped")));
  EXPECT_FALSE(trials_[one].prediction);
}

TEST_F(PredictTraining, ADeviceWithoutRoomIsNamed) {
  add({"a"});
  add({"b"});
  daemons_[1]->set_memory_limit(1);
  const Error error = error_of_it();
  EXPECT_EQ(error.code, ErrorCode::kExhausted);
  EXPECT_THAT(error.message, StartsWith("profiling training on b: "));
}

TEST(PredictTrainingOfAnOldDaemon, SaysThatItDoesNotTrain) {
  const auto transport = transport::make_transport("shm").value();
  std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
  auto daemon = std::make_unique<test::FakeDaemon>("old", *transport);
  daemon->set_place(transport::this_place(), /*serves_shm=*/false);
  devices.push_back(std::move(daemon));
  const cluster::Cluster cluster = cluster::Cluster::of(std::move(devices));
  const model::Model model = test::small_model();
  const model::Model loss = model::zoo::open_loss("cross-entropy", model).value();
  std::vector<results::TrialRecord> trials(1);
  trials[0].plan = make_plan(model, {}, {"old"}, 1, {}).value();
  trials[0].plan.transport = "shm";
  const std::atomic<bool> stop{false};
  const auto predicted = predict_training(model, loss, cluster, {}, trials, stop,
                                          [](const auto&, std::size_t, std::size_t) {});
  ASSERT_FALSE(predicted);
  EXPECT_EQ(predicted.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(predicted.error().message,
              AllOf(HasSubstr("profiling training on old"), HasSubstr("does not train")));
}

}  // namespace
}  // namespace pareto::sweep
