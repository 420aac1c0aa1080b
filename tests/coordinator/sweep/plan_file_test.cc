#include "coordinator/cluster/plan_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "coordinator/sweep/sweep_plan.h"
#include "core/base/file.h"
#include "tests/coordinator/sweep/sweep_plan_fixture.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(SweepPlanTest, APlanThatCannotBeDeployedIsToldWhole) {
  SweepOptions made;
  made.splits = "percent:50";
  made.transports = {"tcp"};
  const plan::Plan good = plan_sweep(model_, cluster_, made).value().front().plan;
  const auto refused = [&](auto change) {
    cluster::NamedPlan named{"mine", good};
    change(named.plan);
    const auto checked = cluster::check_plan(named, model_, cluster_);
    return checked ? std::string("accepted") : checked.error().message;
  };
  EXPECT_EQ(refused([](plan::Plan&) {}), "accepted");
  EXPECT_EQ(refused([](plan::Plan& p) { p.model = "/models/squeezenet1_0.pt"; }), "accepted");
  EXPECT_THAT(refused([](plan::Plan& p) { p.model = "vgg16"; }),
              AllOf(HasSubstr("plan mine: "), HasSubstr("vgg16"), HasSubstr("--model")));
  EXPECT_THAT(refused([](plan::Plan& p) { p.stages[1].device = "d7"; }),
              AllOf(HasSubstr("stage 1: no device \"d7\""), HasSubstr("there are d0, d1"),
                    HasSubstr("--devices")));
  EXPECT_THAT(refused([](plan::Plan& p) { p.stages[1].end += 1; }), HasSubstr("its stages end at"));
  EXPECT_THAT(refused([](plan::Plan& p) { p.stages[0].end = ++p.stages[1].begin; }),
              HasSubstr("stage 0 ends at operator"));
  EXPECT_THAT(refused([](plan::Plan& p) { p.splits = {"after:features.33"}; }),
              HasSubstr("after:features.3"));
  EXPECT_THAT(refused([](plan::Plan& p) { p.splits = {"modules"}; }),
              HasSubstr("split points, not one"));
  EXPECT_THAT(refused([](plan::Plan& p) { p.transport = "tpc"; }),
              HasSubstr("\"tpc\"; there are tcp"));
  EXPECT_THAT(refused([](plan::Plan& p) { p.transport = "tcp+shm+tcp"; }),
              HasSubstr("\"transports\""));
  EXPECT_THAT(refused([](plan::Plan& p) { p.codecs = {"int9"}; }), HasSubstr("int8"));
  EXPECT_THAT(refused([](plan::Plan& p) { p.settings.engine = "plane"; }),
              HasSubstr("did you mean plain"));
  EXPECT_THAT(refused([](plan::Plan& p) { p.settings.precision = "fp7"; }), HasSubstr("fp7"));
  EXPECT_EQ(refused([](plan::Plan& p) { p.stages[1].settings = {"auto", "bf16", 2}; }), "accepted");
  EXPECT_EQ(refused([](plan::Plan& p) {
              p.stages[1].settings = {"auto", "fp7"};
            }),
            "plan mine: stages[1].settings.precision: unknown precision \"fp7\"; use fp32 or bf16");
  EXPECT_THAT(refused([](plan::Plan& p) { p.stages[0].settings = {"plane"}; }),
              AllOf(HasSubstr("stages[0].settings.engine: no engine \"plane\""),
                    HasSubstr("there are auto, plain")));
}

TEST_F(SweepPlanTest, APlanMayRunBranchesInAnotherOrder) {
  // Operator 4 feeds 5 and 7, whose branches 9 joins: the second branch runs first.
  const auto operators = static_cast<std::int64_t>(model_.graph().operators.size());
  cluster::NamedPlan named{"mine", {}};
  named.plan.model = "squeezenet1_0";
  named.plan.splits = {"op:5:7-9"};
  named.plan.stages = {{"d0", 0, 7, {{0, 5}, {7, 9}}},
                       {"d1", 7, operators, {{5, 7}, {9, operators}}}};
  named.plan.batch = 2;
  const auto accepted = cluster::check_plan(named, model_, cluster_);
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
    cluster::NamedPlan other = named;
    change(other.plan);
    const auto checked = cluster::check_plan(other, model_, cluster_);
    return checked ? std::string("accepted") : checked.error().message;
  };
  EXPECT_THAT(refused([](plan::Plan& p) { p.splits = {"op:7"}; }),
              HasSubstr("called \"op:5:7-9\", not \"op:7\""));
  EXPECT_THAT(refused([&](plan::Plan& p) {
                p.stages[0].operators = {{0, 5}, {8, 10}};
                p.stages[1].operators = {{5, 8}, {10, operators}};
              }),
              AllOf(HasSubstr("no cut after stage 0"), HasSubstr("which it needs")));
}

TEST(PlanFiles, AreReadFromFilesAndFolders) {
  const TemporaryFolder folder = TemporaryFolder::create("plans").value();
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  plan::Plan plan;
  plan.model = "tiny";
  plan.stages = {{"a", 0, 4}};
  ASSERT_TRUE(write_file_atomically(path("b.json"), to_json(plan)));
  ASSERT_TRUE(write_file_atomically(path("a.json"), to_json(plan)));
  ASSERT_TRUE(write_file_atomically(path("notes.txt"), "no plan"));
  const auto both = cluster::read_plan_files({folder.path().string()}).value();
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].name, "a");
  EXPECT_EQ(both[1].plan, plan);
  EXPECT_EQ(cluster::devices_named(both), 1U);
  const auto refusal = [](const std::vector<std::string>& paths) {
    const auto read = cluster::read_plan_files(paths);
    return read ? std::string("accepted") : read.error().message;
  };
  EXPECT_THAT(refusal({path("a.json"), folder.path().string()}), HasSubstr("called \"a\" too"));
  // As fronts of two networks are, which both begin with 1-.
  for (const char* const front : {"n5", "n20", "other/n20"}) {
    std::filesystem::create_directories(path(front));
    ASSERT_TRUE(write_file_atomically(path(std::string(front) + "/a.json"), to_json(plan)));
  }
  const auto fronts =
      cluster::read_plan_files({path("n5/."), path("n20/"), path("b.json")}).value();
  ASSERT_EQ(fronts.size(), 3U);
  EXPECT_EQ(fronts[0].name, "n5/a");
  EXPECT_EQ(fronts[1].name, "n20/a");
  EXPECT_EQ(fronts[2].name, "b");
  EXPECT_THAT(refusal({path("n5"), path("n5/.")}), HasSubstr("called \"a\" too"));
  EXPECT_THAT(refusal({path("n20"), path("other/n20")}), HasSubstr("called \"n20/a\" too"));
  EXPECT_THAT(refusal({path("c.json")}), HasSubstr("c.json"));
  EXPECT_THAT(refusal({path("notes.txt")}),
              HasSubstr("notes.txt: this is no plan: no JSON at line 1"));
  ASSERT_TRUE(write_file_atomically(path("other.json"), "{\"model\": \"m\"}"));
  EXPECT_THAT(refusal({path("other.json")}),
              HasSubstr("other.json: this is no plan: \"stages\" is missing"));
  std::filesystem::create_directory(path("empty"));
  EXPECT_THAT(refusal({path("empty")}), HasSubstr("holds no plan"));
}

TEST(PlanFiles, OfAFrontAreReadInItsOrderAndDoNotMixWithOthers) {
  const TemporaryFolder folder = TemporaryFolder::create("plans").value();
  const std::filesystem::path front = folder.path() / "new" / "front";
  ASSERT_TRUE(cluster::make_plan_folder(front));
  plan::PlanFile file;
  file.plan.model = "tiny";
  file.plan.stages = {{"a", 0, 4}};
  file.source = plan::ModelSource{.model = "tiny.pt"};
  std::vector<plan::PlanFile> plans(12, file);
  for (std::size_t i = 0; i < plans.size(); ++i) plans[i].plan.window = static_cast<int>(i) + 1;
  ASSERT_TRUE(cluster::write_plan_files(front, plans));
  const auto read = cluster::read_plan_files({front.string()}).value();
  ASSERT_EQ(read.size(), plans.size());
  EXPECT_EQ(read.front().name, "01-all-on-a");
  for (std::size_t i = 0; i < plans.size(); ++i) {
    EXPECT_EQ(read[i].plan, plans[i].plan);
    EXPECT_EQ(read[i].source, plans[i].source);
  }
  const auto refused = cluster::make_plan_folder(front);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("holds plans already (01-all-on-a.json)"));
}

}  // namespace
}  // namespace pareto::sweep
