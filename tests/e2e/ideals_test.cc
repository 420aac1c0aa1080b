// Plans that run a model's operators in an order of their own, with real daemons: the bits are the
// model's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class OwnOrder : public EndToEnd {
 protected:
  /// Returns a plan of the small model, whose operator 4 feeds two branches: 5, 6 and 7, 8. The
  /// second one runs before the first.
  json plan() const {
    const Finished whole = run_model(
        {"--model", "squeezenet1_0", "--engine", "plain", "--save-plan", path("whole.json")},
        "whole.npy");
    EXPECT_EQ(whole.exit_code, 0) << whole.errors;
    json plan = json::parse(slurp(path("whole.json")), nullptr, false);
    const std::int64_t end = plan["stages"][0]["end"];
    plan["splits"] = {"op:5:7-9", "op:20"};
    plan["stages"] = json::array();
    plan["stages"].push_back(
        {{"device", "local-0"}, {"begin", 0}, {"end", 7}, {"operators", {{0, 5}, {7, 9}}}});
    plan["stages"].push_back(
        {{"device", "local-1"}, {"begin", 7}, {"end", 20}, {"operators", {{5, 7}, {9, 20}}}});
    plan["stages"].push_back({{"device", "local-2"}, {"begin", 20}, {"end", end}});
    return plan;
  }

  std::string saved(const json& plan) const {
    std::ofstream(path("plan.json")) << plan;
    return path("plan.json");
  }
};

TEST_F(OwnOrder, GivesTheModelsBits) {
  const Finished done = run_model({"--plan", saved(plan())}, "parted.npy");
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json trial = json::parse(done.output)["trial"];
  EXPECT_EQ(trial["stages"].size(), 3U);
  EXPECT_EQ(trial["plan"]["stages"][1]["operators"], json::parse("[[5,7],[9,20]]"));
  ASSERT_FALSE(slurp(path("whole.npy")).empty());
  EXPECT_EQ(slurp(path("parted.npy")), slurp(path("whole.npy")));
}

TEST_F(OwnOrder, IsMeasuredBesideOthers) {
  const json own = plan();
  const Finished done = paretoctl(small_sweep({"--plans", saved(own), "--rounds", "1", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  ASSERT_EQ(run["trials"].size(), 1U);
  const json& trial = run["trials"][0];
  EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
  EXPECT_EQ(trial["split"]["name"], "op:5:7-9+op:20");
  EXPECT_EQ(trial["plan"]["stages"], own["stages"]);
}

TEST_F(OwnOrder, IsNamedByModulesOrByAFile) {
  const Finished whole = run_model({"--model", "squeezenet1_0", "--engine", "plain"}, "whole.npy");
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  std::ofstream(path("frontier.yaml")) << "modules: [features.3.expand3x3_activation]\n";
  const std::string set = "after:features.3.expand3x3+features.3.expand1x1_activation";
  const Finished named = run_model({"--model", "squeezenet1_0", "--engine", "plain", "--frontier",
                                    path("frontier.yaml"), "--save-plan", path("named.json")},
                                   "named.npy");
  ASSERT_EQ(named.exit_code, 0) << named.errors;
  EXPECT_THAT(named.errors, HasSubstr("equal to the whole model at batches 1, 2, bit for bit"));
  EXPECT_EQ(slurp(path("named.npy")), slurp(path("whole.npy")));
  const json plan = json::parse(named.output)["trial"]["plan"];
  EXPECT_EQ(plan["splits"], json::parse(R"(["only:features.3.expand3x3_activation"])"));
  EXPECT_EQ(plan["stages"][0]["operators"], json::parse("[[0,5],[7,9]]"));
  // Three stages: two sets, one behind the other, and a position behind both.
  const Finished three = run_model({"--model", "squeezenet1_0", "--engine", "plain", "--split",
                                    "op:5:7-8," + set + "+after:features.4"},
                                   "three.npy");
  ASSERT_EQ(three.exit_code, 0) << three.errors;
  EXPECT_EQ(slurp(path("three.npy")), slurp(path("whole.npy")));
  EXPECT_EQ(json::parse(three.output)["trial"]["plan"]["splits"].size(), 3U);
  // What was found equal once is remembered, and a plan's file names the cut by modules.
  const Finished again = run_model({"--plan", path("named.json")}, "again.npy");
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors, testing::Not(HasSubstr("equal to the whole model")));
  EXPECT_EQ(slurp(path("again.npy")), slurp(path("whole.npy")));
  const Finished refused =
      run_model({"--model", "squeezenet1_0", "--split", set + ",only:features.3.expand3x3"}, "no");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("does not lie behind the one before it"));
}

TEST_F(OwnOrder, ThatCannotRunIsRefused) {
  const json good = plan();
  const auto refused = [&](auto change) {
    json bad = good;
    change(bad);
    const Finished done = run_model({"--plan", saved(bad)}, "none.npy");
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    return done.errors;
  };
  // The join before what it joins.
  EXPECT_THAT(refused([](json& p) {
                p["stages"][0]["operators"] = {{0, 5}, {9, 11}};
                p["stages"][1]["operators"] = {{5, 9}, {11, 20}};
                p["splits"][0] = "op:5:9-11";
              }),
              HasSubstr("which it needs"));
  EXPECT_THAT(refused([](json& p) { p["splits"][0] = "op:7"; }), HasSubstr("called \"op:5:7-9\""));
  EXPECT_THAT(refused([](json& p) { p["stages"][1].erase("operators"); }), HasSubstr("operator 5"));
  EXPECT_THAT(refused([](json& p) {
                p["stages"][0]["operators"] = {{0, 5}, {7, 8}};
              }),
              HasSubstr("stage 0 names 6 operators"));
}

TEST_F(OwnOrder, IsWhatPlanningOverIdealsMayFind) {
  std::vector<std::string> arguments{"plan",
                                     "--cuts",
                                     "ideals",
                                     "--store",
                                     path("results.db"),
                                     "--transport",
                                     "tcp",
                                     "--splits",
                                     "after:features.3,after:features.9",
                                     "--prefer",
                                     "throughput",
                                     "--no-replicas",
                                     "--engine",
                                     "plain",
                                     "--save",
                                     path("plan.json"),
                                     "--json"};
  const std::vector<std::string> model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  const Finished planned = paretoctl(arguments);
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  const Finished whole = run_model({"--model", "squeezenet1_0", "--engine", "plain"}, "whole.npy");
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  const Finished done = run_model({"--plan", path("plan.json")}, "parted.npy");
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(slurp(path("parted.npy")), slurp(path("whole.npy")));

  arguments[2] = "everywhere";
  const Finished refused = paretoctl(arguments);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("--cuts everywhere: auto, order or ideals"));
}

}  // namespace
}  // namespace pareto::test
