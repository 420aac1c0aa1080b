#include "coordinator/sweep/trial_predictor.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/profile/device_profiler.h"
#include "coordinator/sweep/cut_chains.h"
#include "coordinator/sweep/sweep_plan.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/model/graph/split_points.h"
#include "partitioner/planning/frontiers/select_cuts.h"
#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_store.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::sweep {
namespace {

using std::chrono::milliseconds;

results::TrialRecord trial_of(std::size_t stages) {
  results::TrialRecord trial;
  trial.plan.transport = "tcp";
  for (std::size_t i = 0; i < stages; ++i) trial.plan.stages.push_back({"d", 0, 1});
  return trial;
}

TEST(LacksPrediction, WhatWasPredictedMeasuredOrHasNoRoomDoesNot) {
  EXPECT_TRUE(lacks_prediction(trial_of(2)));
  results::TrialRecord trial = trial_of(2);
  trial.status = results::TrialStatus::kSkipped;
  EXPECT_TRUE(lacks_prediction(trial)) << "its network may be had now";
  trial.prediction = results::Prediction{};
  EXPECT_FALSE(lacks_prediction(trial));
  trial = trial_of(2);
  trial.rounds.emplace_back();
  EXPECT_FALSE(lacks_prediction(trial));
  trial = trial_of(2);
  trial.no_room = true;
  EXPECT_FALSE(lacks_prediction(trial));
}

/// Returns two devices of 10 and 20 ms, links of 5 ms.
planning::CostInputs two_devices() {
  planning::CostInputs inputs;
  inputs.boundary_bytes = {1, 1, 1};
  inputs.legal = {true, true, true};
  inputs.devices.resize(2);
  inputs.devices[0].compute = {Nanoseconds(0), milliseconds(10), milliseconds(30)};
  inputs.devices[1].compute = inputs.devices[0].compute;
  planning::LinkCosts link;
  link.delay = milliseconds(5);
  inputs.links.assign(3, std::vector<planning::LinkCosts>(3, link));
  return inputs;
}

TEST(PredictedThroughput, IsThatOfTheCostModelUnlessJitterIsKnownOfAllItsDevices) {
  const planning::Placement split{{{0, 0, 1}, {1, 1, 2}}};
  planning::CostInputs inputs = two_devices();
  const auto predicted = [&](int window) {
    return predicted_throughput(inputs, split, *planning::evaluate(inputs, split), window);
  };
  const auto at = [&](int window) { return predicted(window).messages_per_s; };
  EXPECT_DOUBLE_EQ(at(1), 1 / 0.045);
  EXPECT_DOUBLE_EQ(at(3), 1 / 0.020);
  EXPECT_DOUBLE_EQ(at(0), 1 / 0.020);
  EXPECT_EQ(predicted(0).window, 0) << "how few are enough is not known without jitter";
  inputs.devices[1].jitter = {0.2, 0.2, 0.2, 0.2, 1.8, 1.8, 1.8, 1.8};
  EXPECT_DOUBLE_EQ(at(3), 1 / 0.020) << "nothing is known of the other";
  inputs.devices[0].jitter = {1};
  EXPECT_NEAR(at(1), 1 / 0.045, 1e-3) << "a lone request's mean";
  EXPECT_LT(at(3), 0.97 / 0.020);
  EXPECT_GT(at(0), 1.02 * at(3)) << "a sweep would find a larger window";
  EXPECT_GT(predicted(0).window, 3);
  EXPECT_EQ(predicted(3).window, 3);
}

/// Three devices whose profiles are kept, on links whose messages take their bytes by a rate of
/// each transport; the coordinator's are real ones.
class PredictTrials : public testing::Test {
 protected:
  static constexpr double kTcpRate = 1e6;
  static constexpr double kGrpcRate = 4e6;

  PredictTrials() {
    std::vector<wire::CodecCost> costs;
    for (const std::string& codec : cluster::codecs_losing(1)) {
      costs.push_back({codec, 100, Nanoseconds(1), Nanoseconds(1), 0});
    }
    std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
    for (const char* name : {"a", "b", "c"}) {
      auto daemon = std::make_unique<test::FakeDaemon>(name, *transport_);
      daemon->set_place(transport::this_place(), /*serves_shm=*/false);
      daemon->serve_tcp();
      daemon->serve("grpc");
      daemon->set_rate_over("tcp", kTcpRate);
      daemon->set_rate_over("grpc", kGrpcRate);
      daemon->set_codec_costs({}, costs);
      daemon->set_cores(4);
      daemons_.push_back(daemon.get());
      devices.push_back(std::move(daemon));
    }
    cluster_.emplace(cluster::Cluster::of(std::move(devices)));
    options_.splits = "after:features.3,after:features.6";
    for (std::size_t i = 0; i < cluster_->size(); ++i) keep_profile(cluster_->device(i));
    for (const char* device : {"a", "b", "c"}) add({}, {device}, {"shm"});
  }

  void keep_profile(const cluster::DaemonClient& device,
                    const control::ShardSettings& settings = {},
                    Nanoseconds each_operator = milliseconds(1)) {
    const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
    profile::ProfileRequest request;
    request.model = model_.name();
    request.model_digest = model_.digest().hex();
    request.operators = operators;
    request.settings = settings;
    plan::DeviceProfile profile;
    profile.device = device.config().name;
    profile.operators.assign(static_cast<std::size_t>(operators), each_operator);
    const auto shard = [&](std::int64_t begin, std::int64_t end) {
      const Nanoseconds time = (end - begin) * each_operator;
      profile.shards.push_back({begin, end, time, time, 0});
    };
    for (const std::size_t point : points()) shard(0, model_.split_points()[point].position);
    shard(0, operators);
    for (const std::size_t point : points()) {
      shard(model_.split_points()[point].position, operators);
    }
    store_.profiles[profile::profile_key(*cluster_, device, request)] = profile;
  }

  std::vector<std::size_t> points() const {
    return model::select_split_points(model_.split_points(), options_.splits).value();
  }

  std::size_t add(const std::vector<std::size_t>& cuts, const std::vector<std::string>& devices,
                  const std::vector<std::string>& transports, const std::string& codec = "none") {
    results::TrialRecord& trial = trials_.emplace_back();
    trial.plan = make_plan(model_, cuts, devices, 1, options_).value();
    trial.plan.set_transports(*cluster::fit_transports(transports, trial.plan.links()));
    trial.codec = codec;
    if (codec != "none") trial.plan.codecs.assign(cuts.size(), codec);
    return trials_.size() - 1;
  }

  /// The whole model on each device, and what add() added.
  void predict() {
    const auto predicted = predict_trials(model_, *cluster_, store_, options_, trials_, stop_,
                                          [](const auto&, std::size_t, std::size_t) {});
    ASSERT_TRUE(predicted) << predicted.error().message;
  }

  /// Milliseconds that the bytes of a cut take at that rate.
  double crossing_ms(std::size_t point, double rate) const {
    const auto bytes =
        model::boundary_bytes(model_.graph(), model_.split_points()[point].position, 1);
    return static_cast<double>(*bytes) / rate * 1e3;
  }

  double latency_ms(std::size_t trial) const {
    EXPECT_TRUE(trials_[trial].prediction) << trial;
    return trials_[trial].prediction.value_or(results::Prediction{}).latency_ms;
  }

  std::unique_ptr<transport::Transport> transport_ = transport::make_transport("shm").value();
  model::Model model_ = test::small_model();
  std::vector<test::FakeDaemon*> daemons_;
  std::optional<cluster::Cluster> cluster_;
  test::MemoryStore store_;
  SweepOptions options_;
  std::vector<results::TrialRecord> trials_;
  std::atomic<bool> stop_{false};
};

TEST_F(PredictTrials, KnowsCodecsAndMixesOfTransports) {
  const std::size_t first = points().front();
  const std::size_t second = points().back();
  const std::vector<std::string> by_tcp{"shm", "tcp", "shm"};
  const std::size_t plain = add({first}, {"a", "b"}, by_tcp);
  const std::size_t int8 = add({first}, {"a", "b"}, by_tcp, "int8");
  const std::size_t fp16 = add({first}, {"a", "b"}, by_tcp, "fp16");
  const std::size_t automatic = add({first}, {"a", "b"}, by_tcp, "auto");
  const std::size_t alike = add({first, second}, {"a", "b", "c"}, by_tcp);
  const std::size_t mixed = add({first, second}, {"a", "b", "c"}, {"shm", "tcp", "grpc", "shm"});
  predict();
  const double crossing = crossing_ms(first, kTcpRate);
  EXPECT_NEAR(latency_ms(plain) - latency_ms(fp16), crossing / 2, 0.02 * crossing);
  EXPECT_NEAR(latency_ms(plain) - latency_ms(int8), crossing * 3 / 4, 0.02 * crossing);
  EXPECT_LT(latency_ms(automatic), latency_ms(plain)) << "what follows a ReLU has zeros";
  EXPECT_GT(latency_ms(automatic), latency_ms(int8)) << "nothing may be lost";
  EXPECT_NEAR(latency_ms(alike) - latency_ms(mixed),
              crossing_ms(second, kTcpRate) - crossing_ms(second, kGrpcRate), 1e-3);
  for (std::size_t whole = 0; whole < 3; ++whole) EXPECT_GT(latency_ms(whole), 0);
}

TEST_F(PredictTrials, WhatADeviceMayComputeLessItTakesLonger) {
  for (auto& [key, profile] : store_.profiles) profile.threads = 2;
  daemons_[1]->set_limits(0, 0.125);  // half a core for two threads
  predict();
  EXPECT_NEAR(latency_ms(1) / latency_ms(0), 4, 0.1);
  EXPECT_NEAR(latency_ms(2) / latency_ms(0), 1, 0.1);
  const auto rate = [&](std::size_t trial) {
    return trials_[trial].prediction.value_or(results::Prediction{}).samples_per_s;
  };
  EXPECT_NEAR(rate(0) / rate(1), 4, 0.1);
}

TEST_F(PredictTrials, KnowsMicroBatchesByWhatOneOfThemTakes) {
  const std::size_t cut = points().front();
  const std::size_t one = add({cut}, {"a", "b"}, {"shm", "tcp", "shm"});
  const std::size_t three = add({cut}, {"a", "b"}, {"shm", "tcp", "shm"});
  for (results::TrialRecord* trial : {&trials_[one], &trials_[three]}) trial->plan.window = 64;
  trials_[three].batch = trials_[three].plan.batch = 3;
  trials_[three].plan.micro_batch = 1;
  const std::size_t alone = add({cut}, {"a", "b"}, {"shm", "tcp", "shm"});
  trials_[alone].batch = trials_[alone].plan.batch = 3;
  trials_[alone].plan.micro_batch = 1;
  trials_[alone].plan.window = 1;
  predict();
  const auto samples_per_s = [&](std::size_t trial) {
    return trials_[trial].prediction.value_or(results::Prediction{}).samples_per_s;
  };
  const double pace_ms = 1e3 / samples_per_s(one);
  EXPECT_NEAR(latency_ms(three), latency_ms(one) + 2 * pace_ms, 0.01 * pace_ms);
  EXPECT_NEAR(samples_per_s(three) / samples_per_s(one), 1, 0.01);
  EXPECT_NEAR(samples_per_s(alone), 3e3 / latency_ms(alone), 1e-6);
}

TEST_F(PredictTrials, KnowsGivenPlansByTheirOwnCutsSettingsAndOrder) {
  const std::size_t cut = points().front();
  const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
  control::ShardSettings slow;
  slow.threads = 2;
  for (std::size_t i = 0; i < cluster_->size(); ++i) {
    keep_profile(cluster_->device(i), slow, milliseconds(3));
  }
  const std::size_t plain = add({cut}, {"a", "b"}, {"shm", "tcp", "shm"});
  const std::size_t threaded = add({cut}, {"a", "b"}, {"shm", "tcp", "shm"});
  trials_[threaded].plan.settings.threads = 2;
  // Operator 4 feeds two branches: 5, 6 and 7, 8. The second one runs before the first.
  const std::size_t own_order = add({cut}, {"a", "b"}, {"shm", "tcp", "shm"});
  plan::Plan& plan = trials_[own_order].plan;
  plan.splits = {"op:5:7-9"};
  plan.stages = {{"a", 0, 7, {{0, 5}, {7, 9}}}, {"b", 7, operators, {{5, 7}, {9, operators}}}};
  const std::size_t replicas = add({}, {"a"}, {"shm"});
  trials_[replicas].plan.replicated = true;
  trials_[replicas].plan.stages.push_back({"b", 0, operators});
  trials_[replicas].plan.window = 2;
  const std::size_t unknown = add({cut}, {"a", "b"}, {"shm", "tcp", "shm"});
  trials_[unknown].plan.stages[0].device = "d";
  for (const results::TrialRecord& trial : trials_) options_.plans.push_back({"", trial.plan});
  predict();
  // The coordinator's links are real ones, and probed for each kind of plans.
  constexpr double kProbing = 1;
  EXPECT_NEAR(latency_ms(threaded) - latency_ms(plain), 2.0 * static_cast<double>(operators),
              kProbing);
  const auto own_bytes =
      model::boundary_bytes(model_.graph(), plan::OperatorRanges{{0, 5}, {7, 9}}, 1);
  // What operator 4 made is under way while 7 and 8 run.
  EXPECT_NEAR(latency_ms(own_order) - latency_ms(plain),
              static_cast<double>(*own_bytes) / kTcpRate * 1e3 - 2 - crossing_ms(cut, kTcpRate),
              kProbing);
  EXPECT_FALSE(trials_[unknown].prediction);
  EXPECT_NEAR(latency_ms(replicas), std::max(latency_ms(0), latency_ms(1)), 1e-6);
  EXPECT_NEAR(trials_[replicas].prediction->samples_per_s, 2e3 / latency_ms(replicas), 1e-3);
}

TEST_F(PredictTrials, KnowsFrontiers) {
  const auto cuts = planning::select_cuts(model_, "frontiers").value();
  std::size_t sets = 0;
  for (const model::Cut& cut : cuts) {
    sets += model::is_position(cut.before) ? 0 : 1;
    results::TrialRecord& trial = trials_.emplace_back();
    trial.plan = plan_of_cuts(model_, {cut}, {"a", "b"}, 1, options_).value();
    trial.plan.set_transports({"shm", "tcp", "shm"});
  }
  EXPECT_GE(sets, 8U);
  options_.splits = "frontiers," + options_.splits;
  predict();
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    EXPECT_TRUE(trials_[i].prediction) << (i < 3 ? "whole" : cuts[i - 3].name);
  }
}

TEST_F(PredictTrials, KnowsStagesByTheirOwnSettings) {
  const std::size_t cut = points().front();
  const std::vector<std::string> by_tcp{"shm", "tcp", "shm"};
  keep_profile(cluster_->device(1), {{"auto", "bf16", 2}}, std::chrono::microseconds(500));
  const std::size_t plain = add({cut}, {"a", "b"}, by_tcp);
  const std::size_t mixed = add({cut}, {"a", "b"}, by_tcp);
  trials_[mixed].plan.stages[1].settings = {"auto", "bf16", 2};
  const std::size_t twofold = add({cut}, {"b", "b"}, by_tcp);
  trials_[twofold].plan.stages[1].settings = {"auto", "bf16", 2};
  for (const results::TrialRecord& trial : trials_) options_.plans.push_back({"", trial.plan});
  predict();
  const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
  const auto behind = operators - model_.split_points()[cut].position;
  // The coordinator's links are real ones, and probed for each kind of plans.
  constexpr double kProbing = 1;
  EXPECT_NEAR(latency_ms(plain) - latency_ms(mixed), static_cast<double>(behind) / 2, kProbing);
  EXPECT_FALSE(trials_[twofold].prediction) << "a device has one profile";
}

}  // namespace
}  // namespace pareto::sweep
