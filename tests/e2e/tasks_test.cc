// Tasks over real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class Tasks : public EndToEnd {
 protected:
  /// Returns the arguments of a run of small tasks on two daemons, "near" and "far".
  std::vector<std::string> small_tasks(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "tasks",         "run",
        "--tasks",       "6",
        "--heavy",       "resnet18",
        "--light",       "squeezenet1_0",
        "--input-shape", "3x64x64",
        "--engine",      "plain",
        "--workers",     "1",
        "--devices",     inventory({{"near", near_.address()}, {"far", far_.address()}})};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  Daemon near_{"near", folder()};
  Daemon far_{"far", folder()};
};

TEST_F(Tasks, RunOnSeveralDevicesWithTheBitsOfTheWholeModels) {
  const auto done = paretoctl(small_tasks({"--rounds", "1", "--split", "always", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json report = json::parse(done.output);
  EXPECT_THAT(report["devices"], ElementsAre("near", "far"));
  EXPECT_EQ(report["split_tasks"], 6);
  EXPECT_TRUE(report["lost_devices"].empty());
  std::vector<std::string> ways;
  auto all = report["baselines"];
  all.push_back(report["schedule"]);
  for (const json& way : all) {
    ways.push_back(way["name"]);
    EXPECT_EQ(way["output_mismatches"], 0) << way["name"];
    EXPECT_EQ(way["worst_output_error"], 0) << way["name"];
    EXPECT_EQ(way["figures"]["done"], 6) << way["name"];
  }
  ways.pop_back();
  EXPECT_THAT(ways, ElementsAre("sequential", "queue", "only near", "only far"));
  const json& only_far = report["baselines"][3]["figures"]["workers"];
  EXPECT_EQ(only_far[0]["stages"], 0);
  EXPECT_EQ(only_far[1]["stages"], 6);
  EXPECT_EQ(only_far[1]["name"], "far");
}

TEST_F(Tasks, ALostDeviceIsNamedAndTheOtherRunsItsTasks) {
  auto arguments =
      small_tasks({"--rounds", "1000", "--baseline", "none", "--schedule", "queue", "--json"});
  arguments.insert(arguments.begin(), "paretoctl");
  Process tasks(arguments);
  ASSERT_TRUE(tasks.wait_for_output("round 1/1000", std::chrono::minutes(2))) << tasks.errors();
  far_.process().signal(SIGKILL);
  EXPECT_EQ(tasks.wait(std::chrono::seconds(60)), 4) << tasks.errors();
  const json report = json::parse(tasks.output());
  ASSERT_EQ(report["lost_devices"].size(), 1U) << report.dump(1);
  EXPECT_EQ(report["lost_devices"][0]["device"], "far");
  EXPECT_THAT(report["lost_devices"][0]["error"].get<std::string>(), HasSubstr("far: "));
  EXPECT_EQ(report["lost_devices"][0]["done"], 6) << "the other one ran what was left";
  EXPECT_EQ(report["schedule"]["output_mismatches"], 0);
}

TEST_F(Tasks, ADeviceThatHangsIsLostAfterTheTimeout) {
  auto arguments = small_tasks({"--rounds", "1000", "--baseline", "none", "--schedule", "queue",
                                "--workers", "2", "--timeout", "3s", "--json"});
  arguments.insert(arguments.begin(), "paretoctl");
  Process tasks(arguments);
  ASSERT_TRUE(tasks.wait_for_output("round 1/1000", std::chrono::minutes(2))) << tasks.errors();
  far_.process().signal(SIGSTOP);
  EXPECT_EQ(tasks.wait(std::chrono::seconds(60)), 4) << tasks.errors();
  far_.process().signal(SIGCONT);
  const json report = json::parse(tasks.output());
  ASSERT_EQ(report["lost_devices"].size(), 1U) << report.dump(1);
  EXPECT_EQ(report["lost_devices"][0]["device"], "far");
  EXPECT_EQ(report["lost_devices"][0]["done"], 6);
}

TEST_F(Tasks, TwoWorkersOfOneDeviceGiveTheBitsOfThisMachine) {
  const auto done =
      paretoctl({"tasks",         "run",       "--heavy",
                 "resnet18",      "--light",   "squeezenet1_0",
                 "--input-shape", "3x64x64",   "--engine",
                 "plain",         "--workers", "2",
                 "--rounds",      "1",         "--split",
                 "always",        "--stages",  "2",
                 "--json",        "--devices", inventory({{"near", near_.address()}})});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json report = json::parse(done.output);
  EXPECT_EQ(report["schedule"]["worst_output_error"], 0);
  EXPECT_EQ(report["schedule"]["figures"]["workers"][1]["name"], "near 2");
}

TEST_F(Tasks, BaselinesOfThreadsAreRefusedOnDevices) {
  const auto done = paretoctl(small_tasks({"--baseline", "async"}));
  EXPECT_EQ(done.exit_code, 2) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("--baseline async is of threads of this process"));
}

}  // namespace
}  // namespace pareto::test
