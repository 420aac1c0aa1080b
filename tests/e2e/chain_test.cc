// Pipelines of three stages, with real daemons: what a sweep plans and measures of them, and that
// they compute what the model does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Chain : public EndToEnd {
 protected:
  Chain() {
    std::vector<std::pair<std::string, std::string>> devices;
    for (const char* name : {"first", "second", "third"}) {
      daemons_.push_back(
          std::make_unique<Daemon>(name, folder(), std::vector<std::string>{"--data", "shm=auto"}));
      devices.emplace_back(name, daemons_.back()->address());
    }
    inventory_ = inventory(devices);
  }

  /// Runs a sweep of the small model on the three, measured little; its document.
  json sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"--devices", inventory_, "--rounds", "1", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = paretoctl(small_sweep(arguments));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return json::parse(done.output, nullptr, false);
  }

  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::string inventory_;
};

TEST_F(Chain, EveryNumberOfStagesIsMeasuredAndGivesTheModelsOutput) {
  const json run = sweep({"--splits", "after:features.3,percent:60", "--stages", "auto",
                          "--transport", "tcp", "--codec", "none,zero-bitmap"});
  // (2 points for two stages, both for three) x 2 codecs, and three devices alone.
  ASSERT_EQ(run["trials"].size(), 3U * 2U + 3U);
  EXPECT_EQ(run["options"]["sweep"]["stages"], json::array({2, 3}));
  std::map<std::size_t, int> by_stages;
  for (const json& trial : run["trials"]) {
    ASSERT_EQ(trial["status"], "ok") << trial.dump(1);
    const std::size_t stages = trial["plan"]["stages"].size();
    ++by_stages[stages];
    EXPECT_EQ(trial["stages"].size(), stages);
    ASSERT_EQ(trial["links"].size(), stages + 1);
    EXPECT_LT(trial["output_error"]["max"].get<double>(), 1e-4) << trial["id"];
    if (stages == 1) continue;
    const json& cuts = trial["split"]["cuts"];
    ASSERT_EQ(cuts.size(), stages - 1);
    for (std::size_t i = 0; i + 1 < stages; ++i) {
      EXPECT_EQ(cuts[i]["boundary_bytes"], trial["links"][i + 1]["bytes"]) << trial["id"];
      EXPECT_EQ(cuts[i]["position"], trial["plan"]["stages"][i]["end"]);
      EXPECT_GT(trial["links"][i + 1]["wire_bytes"].get<int>(), 0);
    }
  }
  EXPECT_EQ(by_stages, (std::map<std::size_t, int>{{1, 3}, {2, 4}, {3, 2}}));
  // What is kept says the same.
  const auto front = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  ASSERT_EQ(front.exit_code, 0) << front.errors;
  std::map<std::string, json> kept;
  const json stored = json::parse(front.output);
  for (const json& trial : stored["trials"]) kept[trial["id"]] = trial;
  for (const json& trial : run["trials"]) {
    EXPECT_TRUE(kept[trial["id"]] == trial) << trial["id"];
  }
}

TEST_F(Chain, AnInterruptedRunOfThreeStagesGoesOn) {
  const std::vector<std::string> flags{
      "--devices",   inventory_, "--stages", "3", "--splits", "percent:20,percent:40,percent:60",
      "--transport", "tcp",      "--rounds", "4"};
  auto arguments = small_sweep(flags);
  arguments.insert(arguments.begin(), "paretoctl");
  Process process(arguments);
  ASSERT_TRUE(process.wait_for_output("round 1")) << process.errors();
  process.signal(SIGINT);
  ASSERT_EQ(process.wait(), 4) << process.errors();
  const auto resumed =
      paretoctl({"sweep", "--store", path("results.db"), "--resume", "last", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  const json run = json::parse(resumed.output);
  std::size_t of_three = 0;
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
    of_three += trial["plan"]["stages"].size() == 3 ? 1U : 0U;
  }
  EXPECT_EQ(of_three, 3U);
  EXPECT_FALSE(run["finished"].is_null());
}

TEST_F(Chain, EachLinkMayHaveAnotherTransport) {
  const auto run_over = [&](const std::string& split, const std::string& transport) {
    std::vector<std::string> arguments{
        "run",         "--json",         "--engine", "plain",    "--devices",
        inventory_,    "--transport",    transport,  "--output", path(transport + ".npy"),
        "--save-plan", path("plan.json")};
    if (!split.empty()) arguments.insert(arguments.end(), {"--split", split});
    const auto model = small_model();
    arguments.insert(arguments.end(), model.begin(), model.end());
    const auto done = paretoctl(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return json::parse(done.output, nullptr, false);
  };
  run_over("", "tcp");
  const std::string split = "after:features.3,percent:60";
  // The daemons' shm is offered to this process too: all are on one machine.
  for (const char* mix : {"tcp+grpc+shm+tcp", "shm+tcp+grpc+shm", "grpc+shm+grpc"}) {
    const json trial = run_over(split, mix)["trial"];
    const std::string text = mix == std::string("grpc+shm+grpc") ? "grpc+shm+shm+grpc" : mix;
    EXPECT_EQ(trial["transport"], text);
    std::string of_links;
    for (const json& link : trial["links"]) {
      of_links += (of_links.empty() ? "" : "+") + link["transport"].get<std::string>();
    }
    EXPECT_EQ(of_links, text);
    // Bit for bit what one device computes.
    EXPECT_EQ(slurp(path(std::string(mix) + ".npy")), slurp(path("tcp.npy"))) << mix;
  }
  EXPECT_EQ(run_over(split, "auto")["trial"]["transport"], "shm");
  // The plan that was saved is run as it is, with its model as that was opened.
  run_over(split, "tcp+grpc+shm+tcp");
  const auto again =
      paretoctl({"run", "--json", "--devices", inventory_, "--plan", path("plan.json")});
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(json::parse(again.output)["trial"]["transport"], "tcp+grpc+shm+tcp");
}

TEST_F(Chain, EachStageRunsByItsOwnSettings) {
  std::vector<std::string> arguments{
      "run",       "--engine", "plain",       "--split",        "after:features.3,percent:60",
      "--devices", inventory_, "--save-plan", path("plan.json")};
  const auto model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  const auto saved = paretoctl(arguments);
  ASSERT_EQ(saved.exit_code, 0) << saved.errors;
  json plan = json::parse(slurp(path("plan.json")), nullptr, false);
  for (const json& stage : plan["stages"]) EXPECT_FALSE(stage.contains("settings")) << stage;
  plan["stages"][1]["settings"] = {{"engine", "channels_last"}, {"precision", "bf16"}};
  plan["stages"][2]["settings"] = {{"engine", "onednn"}, {"threads", 2}};
  std::ofstream(path("mixed.json")) << plan;
  const auto done = paretoctl({"run", "--json", "--devices", inventory_, "--plan",
                               path("mixed.json"), "--save-plan", path("again.json")});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json stages = json::parse(done.output)["trial"]["stages"];
  const std::vector<std::pair<std::string, std::string>> expected{
      {"plain", "fp32"}, {"channels_last", "bf16"}, {"onednn", "fp32"}};
  ASSERT_EQ(stages.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(stages[i]["engine"], expected[i].first) << i;
    EXPECT_EQ(stages[i]["precision"], expected[i].second) << i;
  }
  EXPECT_EQ(json::parse(slurp(path("again.json")))["stages"], plan["stages"]);

  plan["stages"][1]["settings"]["precision"] = "fp17";
  std::ofstream(path("mixed.json")) << plan;
  const auto refused = paretoctl({"run", "--devices", inventory_, "--plan", path("mixed.json")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("stages[1].settings.precision: unknown precision "
                                        "\"fp17\"; use fp32 or bf16"));
}

TEST_F(Chain, ASweepMeasuresMixesBesideEachOther) {
  const json run = sweep({"--splits", "after:features.3,percent:60", "--stages", "3", "--transport",
                          "tcp,grpc+shm+tcp"});
  ASSERT_EQ(run["trials"].size(), (1U + 3U) * 2U);
  for (const json& trial : run["trials"]) {
    ASSERT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_LT(trial["output_error"]["max"].get<double>(), 1e-4) << trial["id"];
    const bool mixed = trial["transport"] != "tcp";
    EXPECT_EQ(trial["plan"].contains("transports"), mixed);
    if (!mixed) continue;
    EXPECT_EQ(trial["transport"], trial["split"].is_null() ? "grpc+tcp" : "grpc+shm+shm+tcp");
  }
  const auto refused = paretoctl(
      small_sweep({"--devices", inventory_, "--transport", "tcp+grpc+shm+tcp", "--dry-run"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("names 4 links, the plans have 3"));
}

TEST_F(Chain, PlanFilesAreMeasuredAsTheyStand) {
  const json planned = sweep({"--splits", "after:features.3,percent:60", "--stages", "3",
                              "--transport", "tcp", "--dry-run"});
  json plan = planned["trials"][0]["plan"];
  ASSERT_EQ(plan["stages"].size(), 3U);
  std::filesystem::create_directory(path("plans"));
  std::ofstream(path("plans/forward.json")) << plan;
  // The same cuts on the devices in another order, over a mix, in twos.
  std::swap(plan["stages"][0]["device"], plan["stages"][2]["device"]);
  plan.erase("transport");
  plan["transports"] = {"tcp", "shm", "grpc", "tcp"};
  plan["batch"] = 4;
  plan["micro_batch"] = 2;
  std::ofstream(path("plans/backward.json")) << plan;
  const json run = sweep({"--plans", path("plans")});
  ASSERT_EQ(run["trials"].size(), 2U);
  std::map<std::string, json> by_name;
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_LT(trial["output_error"]["max"].get<double>(), 1e-4) << trial["id"];
    by_name[trial["name"]] = trial;
  }
  EXPECT_EQ(by_name["backward"]["stages"][0]["device"], "third");
  EXPECT_EQ(by_name["backward"]["transport"], "tcp+shm+grpc+tcp");
  EXPECT_EQ(by_name["backward"]["batch"], 4);
  EXPECT_EQ(by_name["forward"]["plan"], planned["trials"][0]["plan"]);
  // What is measured can be looked at, and gone on with although the files are gone.
  std::filesystem::remove_all(path("plans"));
  const auto again = paretoctl({"sweep", "--store", path("results.db"), "--resume", "last"});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.output, HasSubstr("backward"));

  plan["stages"][1]["device"] = "secnd";
  std::ofstream(path("wrong.json")) << plan;
  const auto refused =
      paretoctl(small_sweep({"--devices", inventory_, "--plans", path("wrong.json"), "--dry-run"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("plan wrong: stage 1: no device \"secnd\" (did you mean "
                                        "second"));
}

TEST_F(Chain, MoreStagesThanDevicesAreRefused) {
  const auto refused =
      paretoctl(small_sweep({"--devices", inventory_, "--stages", "2,4", "--dry-run"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("4 stages need as many devices; there are 3"));
}

TEST(LocalChain, AsManyDaemonsAreStartedAsAPlanSpans) {
  // No folder is needed: nothing is kept of a dry run.
  std::vector<std::string> arguments{"paretoctl", "sweep", "--dry-run", "--json",
                                     "--stages",  "3",     "--splits",  "percent:30,percent:60"};
  const auto model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  const auto done = run(arguments);
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json document = json::parse(done.output);
  ASSERT_EQ(document["devices"].size(), 3U);
  ASSERT_EQ(document["trials"].size(), 1U + 3U);
  EXPECT_EQ(document["trials"][0]["plan"]["stages"][2]["device"], "local-2");
}

}  // namespace
}  // namespace pareto::test
