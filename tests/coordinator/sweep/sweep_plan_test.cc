#include "coordinator/sweep/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "partitioner/model/graph/split_points.h"
#include "tests/coordinator/sweep/sweep_plan_fixture.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

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
  for (const results::TrialRecord& trial : trials) {
    ids.insert(trial.id);
    EXPECT_EQ(trial.plan.stages.front().begin, 0);
    EXPECT_EQ(trial.plan.stages.back().end, end);
    EXPECT_EQ(trial.plan.batch, trial.batch);
    EXPECT_EQ(trial.plan.transport, trial.transport);
    EXPECT_TRUE(plan::plan_from_json(to_json(trial.plan)).has_value());
    EXPECT_EQ(trial.split.has_value(), trial.plan.stages.size() == 2);
  }
  EXPECT_EQ(ids.size(), trials.size());
  EXPECT_TRUE(ids.contains("after:features.3/tcp/b1"));
  EXPECT_TRUE(ids.contains("all-on:d1/grpc/b4"));
  const results::TrialRecord& first = trials.front();
  EXPECT_EQ(first.split->name, "after:features.3");
  ASSERT_EQ(first.split->boundary.size(), 1U);
  EXPECT_EQ(first.split->boundary_bytes, first.split->boundary[0].size_bytes(1).value());
  EXPECT_EQ(first.plan.stages[0].end, first.split->position);
}

TEST_F(SweepPlanTest, SettingsAreADimension) {
  SweepOptions options;
  options.splits = "after:features.3";
  options.transports = {"tcp"};
  options.conditions = {"none", "/somewhere/lte.yaml"};
  options.settings.threads = 1;
  const auto one = plan_sweep(model_, cluster_, options).value();
  EXPECT_EQ(one[0].id, "after:features.3/tcp/b1") << "settings that all share are in no id";
  options.more_settings.assign(3, options.settings);
  options.more_settings[0].schedule = "clusters";
  options.more_settings[1].threads = 2;
  options.more_settings[2].threads = 2;
  options.more_settings[2].schedule = R"({"split":{"parts":2}})";
  const auto trials = plan_sweep(model_, cluster_, options).value();
  ASSERT_EQ(trials.size(), 4 * one.size());
  std::map<std::string, plan::StageSettings> by_id;
  for (const results::TrialRecord& trial : trials) by_id[trial.id] = trial.plan.settings;
  EXPECT_EQ(by_id.size(), trials.size());
  EXPECT_EQ(by_id.at("after:features.3/tcp/b1/threads:1/schedule:sequential"), options.settings);
  EXPECT_EQ(by_id.at("all-on:d1/tcp/b1/threads:1/schedule:clusters/lte"), options.more_settings[0]);
  EXPECT_EQ(by_id.at("all-on:d0/tcp/b1/threads:2/schedule:sequential"), options.more_settings[1]);
  for (const auto& [id, settings] : by_id) {
    EXPECT_THAT(id, testing::Not(HasSubstr(" "))) << "a word on command lines";
  }
  // Only what differs tells trials apart.
  options.more_settings.resize(1);
  EXPECT_EQ(plan_sweep(model_, cluster_, options).value()[2].id,
            "after:features.3/tcp/b1/schedule:clusters");
  options.more_settings[0].schedule = "clustres";
  EXPECT_THAT(refusal(options), HasSubstr("did you mean clusters"));
  options.more_settings = {options.settings};
  EXPECT_THAT(refusal(options), HasSubstr("would be measured twice"));
}

TEST_F(SweepPlanTest, CodecsAreForLinksBetweenStages) {
  SweepOptions options;
  options.splits = "after:features.3";
  options.transports = {"tcp"};
  options.codecs = {"none", "int8"};
  const auto trials = plan_sweep(model_, cluster_, options).value();
  std::set<std::string> ids;
  for (const results::TrialRecord& trial : trials) {
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
  for (const results::TrialRecord& trial : chosen) {
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
  for (const results::TrialRecord& trial : trials) {
    EXPECT_TRUE(plan::plan_from_json(to_json(trial.plan)).has_value()) << trial.id;
    if (trial.split) of_split.insert(trial.id);
  }
  const std::string split = "after:features.3/tcp/";
  EXPECT_EQ(of_split, (std::set{split + "b2", split + "b8", split + "b8x2", split + "b8x3"}));
  options.micro_batches = {-1};
  EXPECT_THAT(refusal(options), HasSubstr("micro-batch -1"));
}

TEST_F(SweepPlanTest, AutoNamesATransportForEachPlan) {
  std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
  for (const bool here : {true, false}) {
    auto daemon = std::make_unique<test::FakeDaemon>(here ? "near" : "far", transport_);
    transport::Place place = transport::this_place();
    if (!here) place.boot += "another";
    daemon->set_place(place, true);
    devices.push_back(std::move(daemon));
  }
  const cluster::Cluster mixed = cluster::Cluster::of(std::move(devices));
  SweepOptions options;
  options.splits = "after:features.3";
  const auto ids = [&] {
    std::vector<std::string> planned;
    const auto trials = plan_sweep(model_, mixed, options).value();
    for (const results::TrialRecord& trial : trials) {
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
  const cluster::Cluster three = cluster(3);
  SweepOptions options;
  options.splits = "percent:30,percent:60";
  options.stages = {2, 3};
  options.transports = {"tcp", "tcp+shm+tcp", "tcp+shm+grpc+tcp"};
  const auto trials = plan_sweep(model_, three, options).value();
  std::map<std::size_t, std::vector<std::string>> seen;
  for (const results::TrialRecord& trial : trials) {
    std::vector<std::string>& texts = seen[trial.plan.stages.size()];
    if (std::ranges::find(texts, trial.transport) == texts.end()) texts.push_back(trial.transport);
    EXPECT_EQ(plan::plan_from_json(to_json(trial.plan)).value(), trial.plan);
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
  const cluster::Cluster three = cluster(3);
  SweepOptions options;
  options.splits = "percent:20,percent:50,percent:80";
  options.stages = {3};
  options.transports = {"tcp"};
  options.batches = {4};
  options.codecs = {"fp16"};
  const auto trials = plan_sweep(model_, three, options).value();
  ASSERT_EQ(trials.size(), 3U + 3U);
  const results::TrialRecord& first = trials.front();
  ASSERT_EQ(first.plan.stages.size(), 3U);
  EXPECT_EQ(first.plan.stages[1].device, "d1");
  EXPECT_THAT(first.plan.codecs, ElementsAre("fp16", "fp16"));
  EXPECT_EQ(first.id, first.plan.splits[0] + "+" + first.plan.splits[1] + "/tcp/b4/fp16");
  // Each cut by itself, and all together.
  ASSERT_EQ(first.split->cuts.size(), 2U);
  std::uint64_t bytes = 0;
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const results::CutRecord& cut = first.split->cuts[i];
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

TEST_F(SweepPlanTest, FrontiersAreCutsToo) {
  SweepOptions options;
  options.splits =
      "only:features.3.expand3x3_activation,only:features.3.expand1x1_activation,"
      "after:features.4";
  options.transports = {"tcp"};
  options.stages = {2, 3};
  const cluster::Cluster three = cluster(3);
  const auto trials = plan_sweep(model_, three, options).value();
  ASSERT_EQ(trials.size(), 3U + 2U + 3U) << "the two branches lie behind neither";
  const auto set = std::ranges::find(trials, "only:features.3.expand3x3_activation/tcp/b1",
                                     &results::TrialRecord::id);
  ASSERT_NE(set, trials.end());
  EXPECT_EQ(set->plan.stages[0].operators, (plan::OperatorRanges{{0, 5}, {7, 9}}));
  EXPECT_EQ(set->split->boundary.size(), 2U);
  EXPECT_TRUE(plan::plan_from_json(to_json(set->plan)));
  options.splits = "frontiers";
  options.stages = {2};
  const auto all = plan_sweep(model_, three, options).value();
  EXPECT_GT(all.size(), 40U);
  options.splits = "only:features.3.expand3x3_activation,only:features.3.expand1x1_activation";
  options.stages = {3};
  const auto refused = plan_sweep(model_, three, options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("each behind the one before it"));
}

TEST_F(SweepPlanTest, SeveralNumbersOfStagesAreADimension) {
  const cluster::Cluster four = cluster(4);
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
      model::select_split_points(model_.split_points(), "all").value();
  const std::size_t count = points.size();
  ASSERT_GT(count, 50U);
  const cluster::Cluster four = cluster(4);
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
  const cluster::Cluster forty = cluster(40);
  options.stages = {40};
  const auto astronomic = plan_sweep(model_, forty, options);
  ASSERT_FALSE(astronomic);
  EXPECT_THAT(astronomic.error().message, HasSubstr("e+"));
  EXPECT_THAT(astronomic.error().message,
              AllOf(HasSubstr("paretoctl plan --save"), HasSubstr("sweep --plans")));
}

TEST_F(SweepPlanTest, RefusesSplitPointsThatMakeNoPlan) {
  SweepOptions options;
  options.splits = "percent:50";
  const cluster::Cluster three = cluster(3);
  options.stages = {3};
  const auto few = plan_sweep(model_, three, options);
  ASSERT_FALSE(few);
  EXPECT_THAT(few.error().message, HasSubstr("3 stages need 2 split points"));
  options = {};
  options.splits = "after:features.33";
  EXPECT_THAT(refusal(options), HasSubstr("after:features.3"));
  options = {};
  options.batches = {0};
  EXPECT_THAT(refusal(options), HasSubstr("batch 0")) << "options are checked first";
}

}  // namespace
}  // namespace pareto::sweep
