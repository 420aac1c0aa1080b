#include "client/experiment/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "client/experiment/plan_file.h"
#include "client/experiment/sweep.h"
#include "core/base/file.h"
#include "partitioner/graph/split_points.h"
#include "partitioner/models/model_builder.h"
#include "tests/client/support/fake_daemon.h"
#include "tests/client/support/memory_transport.h"

namespace pareto::client {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class SweepPlanTest : public testing::Test {
 protected:
  static partitioner::Model model() {
    partitioner::ModelOptions options;
    options.num_classes = 10;
    options.input = {{{3, 64, 64}, DType::kFloat32}};
    return partitioner::open_model("squeezenet1_0", options).value();
  }
  SweepPlanTest() : model_(model()), cluster_(cluster(2)) {}

  Cluster cluster(int count) {
    std::vector<std::unique_ptr<DaemonClient>> devices;
    for (int i = 0; i < count; ++i) {
      devices.push_back(std::make_unique<FakeDaemon>("d" + std::to_string(i), transport_));
    }
    return Cluster::of(std::move(devices));
  }
  std::string refusal(const SweepOptions& options) {
    const auto trials = plan_sweep(model_, cluster_, options);
    return trials ? "" : trials.error().message;
  }

  MemoryTransport transport_;
  partitioner::Model model_;
  Cluster cluster_;
};

TEST_F(SweepPlanTest, ConditionsAreADimensionCalledByTheirFiles) {
  SweepOptions options;
  options.splits = "after:features.3";
  options.transports = {"tcp"};
  options.conditions = {"none", "/somewhere/lte.yaml"};
  const auto trials = plan_sweep(model_, cluster_, options).value();
  ASSERT_EQ(trials.size(), (1U + 2U) * 2U);
  EXPECT_EQ(trials[0].condition, "none");
  EXPECT_EQ(trials[1].condition, "lte");
  EXPECT_EQ(trials[1].id, trials[0].id + "/lte");
  options.conditions = {"/a/lte.yaml", "/b/lte.yaml"};
  EXPECT_THAT(refusal(options), HasSubstr("/lte would be measured twice"));
  options.conditions.clear();
  EXPECT_THAT(refusal(options), HasSubstr("at least one"));
}

TEST_F(SweepPlanTest, CrossesSplitsWithTransportsAndBatchesAndAddsOneDevicePlans) {
  SweepOptions options;
  options.splits = "after:features.3,percent:60";
  options.batches = {1, 4};
  const auto trials = plan_sweep(model_, cluster_, options).value();
  ASSERT_EQ(trials.size(), (2U + 2U) * 2U * 2U);
  std::set<std::string> ids;
  const auto end = static_cast<std::int64_t>(model_.graph().operators.size());
  for (const TrialRecord& trial : trials) {
    ids.insert(trial.id);
    EXPECT_EQ(trial.plan.stages.front().begin, 0);
    EXPECT_EQ(trial.plan.stages.back().end, end);
    EXPECT_EQ(trial.plan.batch, trial.batch);
    EXPECT_EQ(trial.plan.transport, trial.transport);
    EXPECT_TRUE(plan_from_json(to_json(trial.plan)).has_value());
    EXPECT_EQ(trial.split.has_value(), trial.plan.stages.size() == 2);
  }
  EXPECT_EQ(ids.size(), trials.size());
  EXPECT_TRUE(ids.contains("after:features.3/tcp/b1"));
  EXPECT_TRUE(ids.contains("all-on:d1/grpc/b4"));
  const TrialRecord& first = trials.front();
  EXPECT_EQ(first.split->name, "after:features.3");
  ASSERT_EQ(first.split->boundary.size(), 1U);
  EXPECT_EQ(first.split->boundary_bytes, first.split->boundary[0].size_bytes(1).value());
  EXPECT_EQ(first.plan.stages[0].end, first.split->position);
}

TEST_F(SweepPlanTest, CodecsAreForLinksBetweenStages) {
  SweepOptions options;
  options.splits = "after:features.3";
  options.transports = {"tcp"};
  options.codecs = {"none", "int8"};
  const auto trials = plan_sweep(model_, cluster_, options).value();
  std::set<std::string> ids;
  for (const TrialRecord& trial : trials) {
    ids.insert(trial.id);
    const std::vector<std::string> expected =
        trial.codec == "none" ? std::vector<std::string>{} : std::vector{trial.codec};
    EXPECT_EQ(trial.plan.codecs, expected) << trial.id;
  }
  EXPECT_EQ(ids, (std::set<std::string>{"after:features.3/tcp/b1", "after:features.3/tcp/b1/int8",
                                        "all-on:d0/tcp/b1", "all-on:d1/tcp/b1"}));
  options.codecs = {"int9"};
  EXPECT_THAT(refusal(options), HasSubstr("int8"));
  options.codecs = {"none", "auto"};
  const auto chosen = plan_sweep(model_, cluster_, options).value();
  for (const TrialRecord& trial : chosen) {
    EXPECT_EQ(trial.auto_codec, trial.id == "after:features.3/tcp/b1/auto") << trial.id;
    EXPECT_EQ(trial.codec, trial.auto_codec ? "auto" : "none");
  }
  options.codec_error = -1;
  EXPECT_THAT(refusal(options), HasSubstr("-1"));
}

TEST_F(SweepPlanTest, MicroBatchesThatDoNotCutABatchAreTheWholeOfIt) {
  SweepOptions options;
  options.splits = "after:features.3";
  options.transports = {"tcp"};
  options.batches = {2, 8};
  options.micro_batches = {0, 2, 3};
  const auto trials = plan_sweep(model_, cluster_, options).value();
  std::set<std::string> of_split;
  for (const TrialRecord& trial : trials) {
    EXPECT_TRUE(plan_from_json(to_json(trial.plan)).has_value()) << trial.id;
    if (trial.split) of_split.insert(trial.id);
  }
  const std::string split = "after:features.3/tcp/";
  EXPECT_EQ(of_split, (std::set{split + "b2", split + "b8", split + "b8x2", split + "b8x3"}));
  options.micro_batches = {-1};
  EXPECT_THAT(refusal(options), HasSubstr("micro-batch -1"));
}

TEST_F(SweepPlanTest, AutoNamesATransportForEachPlan) {
  std::vector<std::unique_ptr<DaemonClient>> devices;
  for (const bool here : {true, false}) {
    auto daemon = std::make_unique<FakeDaemon>(here ? "near" : "far", transport_);
    transport::Place place = transport::this_place();
    if (!here) place.boot += "another";
    daemon->set_place(place, true);
    devices.push_back(std::move(daemon));
  }
  const Cluster mixed = Cluster::of(std::move(devices));
  SweepOptions options;
  options.splits = "after:features.3";
  const auto ids = [&] {
    std::vector<std::string> planned;
    const auto trials = plan_sweep(model_, mixed, options).value();
    for (const TrialRecord& trial : trials) {
      EXPECT_EQ(trial.plan.transport_text(), trial.transport);
      planned.push_back(trial.id);
    }
    return planned;
  };
  options.transports = {"auto"};
  EXPECT_THAT(ids(), ElementsAre("after:features.3/shm+tcp+tcp/b1", "all-on:near/shm/b1",
                                 "all-on:far/tcp/b1"));
  // What is asked for by name is not measured twice.
  options.transports = {"tcp", "auto"};
  EXPECT_THAT(ids(), ElementsAre("after:features.3/tcp/b1", "after:features.3/shm+tcp+tcp/b1",
                                 "all-on:near/tcp/b1", "all-on:near/shm/b1", "all-on:far/tcp/b1"));
}

TEST_F(SweepPlanTest, AMixNamesTheTransportOfEachLink) {
  const Cluster three = cluster(3);
  SweepOptions options;
  options.splits = "percent:30,percent:60";
  options.stages = {2, 3};
  options.transports = {"tcp", "tcp+shm+tcp", "tcp+shm+grpc+tcp"};
  const auto trials = plan_sweep(model_, three, options).value();
  std::map<std::size_t, std::vector<std::string>> seen;
  for (const TrialRecord& trial : trials) {
    std::vector<std::string>& texts = seen[trial.plan.stages.size()];
    if (std::ranges::find(texts, trial.transport) == texts.end()) texts.push_back(trial.transport);
    EXPECT_EQ(plan_from_json(to_json(trial.plan)).value(), trial.plan);
  }
  // What a mix is on one device is measured once; what does not fit a chain is left out.
  EXPECT_THAT(seen[1], ElementsAre("tcp"));
  EXPECT_THAT(seen[2], ElementsAre("tcp", "tcp+shm+tcp"));
  EXPECT_THAT(seen[3], ElementsAre("tcp", "tcp+shm+shm+tcp", "tcp+shm+grpc+tcp"));
  EXPECT_EQ(trials.size(), 3U * 1U + 2U * 2U + 1U * 3U);
  // Asked for, and on no plan.
  options.stages = {2};
  const auto unfit = plan_sweep(model_, three, options);
  ASSERT_FALSE(unfit);
  EXPECT_THAT(unfit.error().message, HasSubstr("tcp+shm+grpc+tcp names 4 links, the plans have 3"));
}

TEST_F(SweepPlanTest, ThreeStagesTakeEveryPairOfSplitPoints) {
  const Cluster three = cluster(3);
  SweepOptions options;
  options.splits = "percent:20,percent:50,percent:80";
  options.stages = {3};
  options.transports = {"tcp"};
  options.batches = {4};
  options.codecs = {"fp16"};
  const auto trials = plan_sweep(model_, three, options).value();
  ASSERT_EQ(trials.size(), 3U + 3U);
  const TrialRecord& first = trials.front();
  ASSERT_EQ(first.plan.stages.size(), 3U);
  EXPECT_EQ(first.plan.stages[1].device, "d1");
  EXPECT_THAT(first.plan.codecs, ElementsAre("fp16", "fp16"));
  EXPECT_EQ(first.id, first.plan.splits[0] + "+" + first.plan.splits[1] + "/tcp/b4/fp16");
  // Each cut by itself, and all together.
  ASSERT_EQ(first.split->cuts.size(), 2U);
  std::uint64_t bytes = 0;
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const CutRecord& cut = first.split->cuts[i];
    EXPECT_EQ(cut.name, first.plan.splits[i]);
    EXPECT_EQ(cut.position, first.plan.stages[i].end);
    std::uint64_t crossing = 0;
    for (const TensorSpec& tensor : cut.boundary) crossing += tensor.size_bytes(4).value();
    EXPECT_EQ(cut.boundary_bytes, crossing);
    EXPECT_GT(crossing, 0U);
    tensors += cut.boundary.size();
    bytes += cut.boundary_bytes;
  }
  EXPECT_EQ(first.split->boundary_bytes, bytes);
  EXPECT_EQ(first.split->boundary.size(), tensors);
  EXPECT_LT(first.split->cuts[0].position, first.split->cuts[1].position);
}

TEST_F(SweepPlanTest, SeveralNumbersOfStagesAreADimension) {
  const Cluster four = cluster(4);
  SweepOptions options;
  options.splits = "percent:20,percent:50,percent:80";
  options.stages = {2, 4, 1};
  options.transports = {"tcp"};
  const auto trials = plan_sweep(model_, four, options).value();
  ASSERT_EQ(trials.size(), 3U + 1U + 4U);
  EXPECT_EQ(trials[2].plan.stages.size(), 2U);
  EXPECT_EQ(trials[3].plan.stages.size(), 4U);
  EXPECT_EQ(trials[3].plan.stages[3].device, "d3");
  options.stages = {1};
  EXPECT_EQ(plan_sweep(model_, four, options).value().size(), 4U);
}

TEST_F(SweepPlanTest, ASweepWithoutEndSaysHowManyTrialsItWouldBe) {
  std::vector<std::size_t> points =
      partitioner::select_split_points(model_.split_points(), "all").value();
  const std::size_t count = points.size();
  ASSERT_GT(count, 50U);
  const Cluster four = cluster(4);
  SweepOptions options;
  options.splits = "all";
  options.stages = {4, 2};
  options.transports = {"tcp", "grpc"};
  options.batches = {1, 8};
  options.micro_batches = {0, 2};  // which cuts one of the batches
  const std::size_t layouts = count * (count - 1) * (count - 2) / 6 + count;
  const auto refused = plan_sweep(model_, four, options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("{} trials", (layouts + 4) * 2 * 3)));
  // Many more are only counted.
  const Cluster forty = cluster(40);
  options.stages = {40};
  const auto astronomic = plan_sweep(model_, forty, options);
  ASSERT_FALSE(astronomic);
  EXPECT_THAT(astronomic.error().message, HasSubstr("e+"));
}

TEST_F(SweepPlanTest, PlansAreTakenAsTheyStandUnderEveryCondition) {
  SweepOptions made;
  made.splits = "percent:50";
  made.transports = {"grpc"};
  made.batches = {2};
  made.codecs = {"int8"};
  SweepOptions options;
  options.plans = {{"mine", plan_sweep(model_, cluster_, made).value().front().plan}};
  std::swap(options.plans[0].plan.stages[0].device, options.plans[0].plan.stages[1].device);
  options.conditions = {"none", "/somewhere/lte.yaml"};
  const auto trials = plan_sweep(model_, cluster_, options).value();
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].id, "mine");
  EXPECT_EQ(trials[1].id, "mine/lte");
  for (const TrialRecord& trial : trials) {
    EXPECT_EQ(trial.plan, options.plans[0].plan);
    EXPECT_EQ(trial.name, "mine");
    EXPECT_EQ(trial.transport, "grpc");
    EXPECT_EQ(trial.codec, "int8");
    EXPECT_EQ(trial.batch, 2);
    EXPECT_EQ(trial.split->cuts.size(), 1U);
  }
  const SweepOptions back = sweep_options_from_json(to_json(options)).value();
  ASSERT_EQ(back.plans.size(), 1U);
  EXPECT_EQ(back.plans[0].name, "mine");
  EXPECT_EQ(back.plans[0].plan, options.plans[0].plan);
}

TEST_F(SweepPlanTest, APlanThatCannotBeDeployedIsToldWhole) {
  SweepOptions made;
  made.splits = "percent:50";
  made.transports = {"tcp"};
  const Plan good = plan_sweep(model_, cluster_, made).value().front().plan;
  const auto refused = [&](auto change) {
    NamedPlan named{"mine", good};
    change(named.plan);
    const auto checked = check_plan(named, model_, cluster_);
    return checked ? std::string("accepted") : checked.error().message;
  };
  EXPECT_EQ(refused([](Plan&) {}), "accepted");
  EXPECT_EQ(refused([](Plan& p) { p.model = "/models/squeezenet1_0.pt"; }), "accepted");
  EXPECT_THAT(refused([](Plan& p) { p.model = "vgg16"; }),
              AllOf(HasSubstr("plan mine: "), HasSubstr("vgg16"), HasSubstr("--model")));
  EXPECT_THAT(refused([](Plan& p) { p.stages[1].device = "d7"; }),
              AllOf(HasSubstr("stage 1: no device \"d7\""), HasSubstr("there are d0, d1"),
                    HasSubstr("--devices")));
  EXPECT_THAT(refused([](Plan& p) { p.stages[1].end += 1; }), HasSubstr("its stages end at"));
  EXPECT_THAT(refused([](Plan& p) { p.stages[0].end = ++p.stages[1].begin; }),
              HasSubstr("stage 0 ends at operator"));
  EXPECT_THAT(refused([](Plan& p) { p.splits = {"after:features.33"}; }),
              HasSubstr("after:features.3"));
  EXPECT_THAT(refused([](Plan& p) { p.splits = {"modules"}; }), HasSubstr("split points, not one"));
  EXPECT_THAT(refused([](Plan& p) { p.transport = "tpc"; }), HasSubstr("\"tpc\"; there are tcp"));
  EXPECT_THAT(refused([](Plan& p) { p.transport = "tcp+shm+tcp"; }), HasSubstr("\"transports\""));
  EXPECT_THAT(refused([](Plan& p) { p.codecs = {"int9"}; }), HasSubstr("int8"));
  EXPECT_THAT(refused([](Plan& p) { p.engine = "plane"; }), HasSubstr("did you mean plain"));
  EXPECT_THAT(refused([](Plan& p) { p.precision = "fp7"; }), HasSubstr("fp7"));
}

TEST_F(SweepPlanTest, APlanMayRunBranchesInAnotherOrder) {
  // Operator 4 feeds 5 and 7, whose branches 9 joins: the second branch runs first.
  const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
  NamedPlan named{"mine", {}};
  named.plan.model = "squeezenet1_0";
  named.plan.splits = {"op:5:7-9"};
  named.plan.stages = {{"d0", 0, 7, {{0, 5}, {7, 9}}},
                       {"d1", 7, operators, {{5, 7}, {9, operators}}}};
  named.plan.batch = 2;
  const auto accepted = check_plan(named, model_, cluster_);
  ASSERT_TRUE(accepted) << accepted.error().message;
  const auto split = describe_split(model_, named.plan).value();
  ASSERT_TRUE(split);
  EXPECT_EQ(split->name, "op:5:7-9");
  EXPECT_EQ(split->position, 7);
  // What both branches read, 16 channels, and what the second one gives, 64.
  ASSERT_EQ(split->boundary.size(), 2U);
  EXPECT_EQ(split->boundary[0].dims[1].constant, 16);
  EXPECT_EQ(split->boundary[1].dims[1].constant, 64);
  EXPECT_EQ(split->boundary_bytes, 2U * (16 + 64) * 14 * 14 * 4);

  const auto refused = [&](auto change) {
    NamedPlan other = named;
    change(other.plan);
    const auto checked = check_plan(other, model_, cluster_);
    return checked ? std::string("accepted") : checked.error().message;
  };
  EXPECT_THAT(refused([](Plan& p) { p.splits = {"op:7"}; }),
              HasSubstr("called \"op:5:7-9\", not \"op:7\""));
  EXPECT_THAT(refused([&](Plan& p) {
                p.stages[0].operators = {{0, 5}, {8, 10}};
                p.stages[1].operators = {{5, 8}, {10, operators}};
              }),
              AllOf(HasSubstr("no cut after stage 0"), HasSubstr("which it needs")));
}

TEST(PlanFiles, AreReadFromFilesAndFolders) {
  const TemporaryFolder folder = TemporaryFolder::create("plans").value();
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  Plan plan;
  plan.model = "tiny";
  plan.stages = {{"a", 0, 4}};
  ASSERT_TRUE(write_file_atomically(path("b.json"), to_json(plan)));
  ASSERT_TRUE(write_file_atomically(path("a.json"), to_json(plan)));
  ASSERT_TRUE(write_file_atomically(path("notes.txt"), "no plan"));
  const auto both = read_plan_files({folder.path().string()}).value();
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].name, "a");
  EXPECT_EQ(both[1].plan, plan);
  EXPECT_EQ(devices_named(both), 1U);
  const auto refusal = [](const std::vector<std::string>& paths) {
    const auto read = read_plan_files(paths);
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_THAT(refusal({path("a.json"), folder.path().string()}), HasSubstr("called \"a\" too"));
  EXPECT_THAT(refusal({path("c.json")}), HasSubstr("c.json"));
  EXPECT_THAT(refusal({path("notes.txt")}), HasSubstr("notes.txt: plan: "));
  std::filesystem::create_directory(path("empty"));
  EXPECT_THAT(refusal({path("empty")}), HasSubstr("holds no plan"));
}

TEST_F(SweepPlanTest, RefusesWhatCannotBeMeasured) {
  SweepOptions options;
  options.batches = {0};
  EXPECT_THAT(refusal(options), HasSubstr("batch 0"));
  options = {};
  options.stages = {3};
  EXPECT_THAT(refusal(options), HasSubstr("3 stages need as many devices; there are 2"));
  options.stages = {2, 2};
  EXPECT_THAT(refusal(options), HasSubstr("stages 2 would be measured twice"));
  options.stages = {};
  EXPECT_THAT(refusal(options), HasSubstr("at least one number of stages"));
  options.stages = {2};
  options.splits = "percent:50";
  const Cluster three = cluster(3);
  options.stages = {3};
  const auto few = plan_sweep(model_, three, options);
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().message, HasSubstr("3 stages need 2 split points"));
  options = {};
  options.engine = "onnx";
  EXPECT_THAT(refusal(options), testing::AllOf(HasSubstr("onnx"), HasSubstr("plain")));
  options = {};
  options.precision = "fp7";
  EXPECT_THAT(refusal(options), HasSubstr("fp7"));
  options = {};
  options.transports = {"tpc"};
  EXPECT_THAT(refusal(options), testing::AllOf(HasSubstr("tpc"), HasSubstr("tcp")));
  options = {};
  options.splits = "after:features.33";
  EXPECT_THAT(refusal(options), HasSubstr("after:features.3"));
  options = {};
  options.rounds = 0;
  EXPECT_THAT(refusal(options), HasSubstr("rounds"));
  options = {};
  options.transports = {"tcp", "tcp"};
  EXPECT_THAT(refusal(options), HasSubstr("twice"));
}

TEST_F(SweepPlanTest, ARunIsNewAndThenContinuedWithoutWhatItMeasured) {
  SweepOptions options;
  options.splits = "percent:60";
  RunRecord run = make_run(model_, cluster_, options, "sweep --splits percent:60").value();
  EXPECT_EQ(run.trials.size(), 6U);
  EXPECT_EQ(run.devices.size(), 2U);
  EXPECT_EQ(run.model_digest, model_.digest().hex());
  EXPECT_TRUE(run.finished.empty());
  EXPECT_GT(run.model_weight_bytes, 1'000'000U);
  // What the store gives back: a trial with some of its rounds, and two failed ones.
  run.trials.resize(3);
  run.trials[0].rounds.resize(2);
  run.trials[0].latency.samples = 24;
  run.trials[0].latency.p50_ms = 7;
  run.trials[1].status = TrialStatus::kFailed;
  run.trials[1].rounds.resize(1);
  run.trials[2].status = TrialStatus::kFailed;
  ASSERT_TRUE(continue_run(model_, cluster_, options, run));
  ASSERT_EQ(run.trials.size(), 6U);
  EXPECT_EQ(run.trials[0].latency.p50_ms, 7);
  EXPECT_EQ(run.trials[0].rounds.size(), 2U);
  EXPECT_EQ(run.trials[1].rounds.size(), 1U);
  EXPECT_EQ(run.trials[2].status, TrialStatus::kOk);
  EXPECT_EQ(run.trials[2].latency.samples, 0);
  run.model_digest = "another";
  EXPECT_EQ(continue_run(model_, cluster_, options, run).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SweepPlanTest, ARunThatGoesOnKnowsWhoHasNoRoom) {
  SweepOptions options;
  options.splits = "percent:60";
  options.adaptive = true;
  RunRecord run = make_run(model_, cluster_, options, "sweep --adaptive").value();
  run.trials[0].prediction = Prediction{.latency_ms = 7, .samples_per_s = 100};
  for (const std::size_t failed : {1U, 2U}) {
    run.trials[failed].status = TrialStatus::kFailed;
    run.trials[failed].failure = "why";
  }
  run.trials[1].no_room = true;
  ASSERT_TRUE(continue_run(model_, cluster_, options, run));
  EXPECT_EQ(run.trials[0].prediction->latency_ms, 7);
  EXPECT_EQ(run.trials[1].status, TrialStatus::kFailed);
  EXPECT_EQ(run.trials[1].failure, "why");
  EXPECT_TRUE(run.trials[1].no_room);
  EXPECT_EQ(run.trials[2].status, TrialStatus::kOk) << "its device may be there again";
}

TEST_F(SweepPlanTest, ARunGoesOnOnTheDevicesThatItBeganOn) {
  SweepOptions options;
  options.splits = "percent:60";
  const RunRecord begun = make_run(model_, cluster_, options, "sweep").value();
  const auto refusal_on = [&](const Cluster& other, const SweepOptions& with) {
    RunRecord run = begun;
    const auto continued = continue_run(model_, other, with, run);
    return continued ? std::string("accepted") : continued.error().message;
  };
  EXPECT_EQ(refusal_on(cluster(2), options), "accepted");
  EXPECT_THAT(refusal_on(cluster(3), options),
              AllOf(HasSubstr("run " + begun.id), HasSubstr("the 3. was none and now is d2"),
                    HasSubstr("--devices")));
  EXPECT_THAT(refusal_on(cluster(1), options), HasSubstr("the 2. was d1"));
  SweepOptions threads = options;
  threads.threads = 7;
  EXPECT_THAT(refusal_on(cluster(2), threads), HasSubstr("threads 7"));
  std::vector<std::unique_ptr<DaemonClient>> devices;
  devices.push_back(std::make_unique<FakeDaemon>("d0", transport_));
  auto replaced = std::make_unique<FakeDaemon>("d1", transport_);
  replaced->set_cpu("Cortex-A76");
  devices.push_back(std::move(replaced));
  EXPECT_THAT(refusal_on(Cluster::of(std::move(devices)), options), HasSubstr("cpu Cortex-A76"));
}

TEST(SweepOptionsJson, ComesBackAsItWas) {
  SweepOptions options;
  options.splits = "percent:5";
  options.stages = {2, 3};
  options.batches = {1, 8};
  options.transports = {"grpc"};
  options.rounds = 9;
  options.codec_error = 0.25;
  options.seed = ~std::uint64_t{0};
  options.conditions = {"/somewhere/wifi.yaml"};
  options.timeout_ms = 120'000;
  const SweepOptions back = sweep_options_from_json(to_json(options)).value();
  EXPECT_EQ(to_json(back), to_json(options));
  EXPECT_THAT(back.batches, ElementsAre(1, 8));
  EXPECT_EQ(back.codec_error, 0.25);
  EXPECT_EQ(back.timeout_ms, 120'000);
  EXPECT_EQ(back.seed, ~std::uint64_t{0});
  // Of before the network could be another one.
  auto old = nlohmann::json::parse(to_json(options));
  old.erase("conditions");
  EXPECT_THAT(sweep_options_from_json(old.dump()).value().conditions, ElementsAre("none"));
  // Of before one could say how long a request may take.
  old.erase("timeout_ms");
  EXPECT_EQ(sweep_options_from_json(old.dump()).value().timeout_ms, kRequestTimeout.count());
  // Of before a plan could span another number of devices than 2.
  old["stages"] = 2;
  EXPECT_THAT(sweep_options_from_json(old.dump()).value().stages, ElementsAre(2));
  for (const char* text : {"", "{}", "[]", "{\"splits\":3}", "nonsense"}) {
    EXPECT_EQ(sweep_options_from_json(text).error().code, ErrorCode::kCorrupt) << text;
  }
}

}  // namespace
}  // namespace pareto::client
