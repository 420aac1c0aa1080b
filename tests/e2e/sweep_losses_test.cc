// Sweeps that are stopped, lose a daemon, or share theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"
#include "tests/e2e/sweep_fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(Sweep, AnInterruptedRunGoesOnWhereItStopped) {
  const std::string splits = "after:features.1,after:features.4,after:features.10,op:60";
  auto arguments = small_sweep({"--splits", splits, "--rounds", "4", "--predict"});
  arguments.insert(arguments.begin(), "paretoctl");
  // OpenBLAS then starts threads before main(): they must not be where a signal ends the program.
  Process sweep(arguments, {"OPENBLAS_NUM_THREADS=2"});
  // Both devices are profiled first.
  ASSERT_TRUE(sweep.wait_for_output("round 1", std::chrono::minutes(4))) << sweep.errors();
  sweep.signal(SIGINT);
  ASSERT_EQ(sweep.wait(), 4) << sweep.errors();
  EXPECT_THAT(sweep.errors(), HasSubstr("--resume"));
  const auto stopped = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  expect_honest(json::parse(stopped.output));
  const auto resumed =
      paretoctl({"sweep", "--store", path("results.db"), "--resume", "last", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  const json run = json::parse(resumed.output);
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial["id"];
    EXPECT_TRUE(trial.contains("predicted")) << trial["id"];
  }
  const auto planned =
      json::parse(paretoctl(small_sweep({"--splits", splits, "--dry-run", "--json"})).output);
  EXPECT_EQ(run["trials"].size(), planned["trials"].size());
  // Views of the stored run agree with what the sweep printed.
  const auto front = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  ASSERT_EQ(front.exit_code, 0) << front.errors;
  EXPECT_EQ(json::parse(front.output)["front"], run["front"]);
  expect_same_figures(json::parse(front.output), run);
  expect_honest(run);
}

TEST_F(Sweep, AKilledDaemonFailsItsTrialsInBoundedTime) {
  Daemon first("first", folder());
  Daemon second("second", folder());
  auto arguments =
      small_sweep({"--splits", "modules", "--rounds", "4", "--devices",
                   inventory({{"first", first.address()}, {"second", second.address()}})});
  arguments.insert(arguments.begin(), "paretoctl");
  Process sweep(arguments);
  ASSERT_TRUE(sweep.wait_for_output("round 1")) << sweep.errors();
  second.process().signal(SIGKILL);
  EXPECT_EQ(sweep.wait(std::chrono::seconds(180)), 4) << sweep.errors();
  EXPECT_THAT(sweep.errors(),
              testing::ContainsRegex("the first: [^ ]+: a device was lost: second "));
  const auto runs = paretoctl({"runs", "--store", path("results.db"), "--json"});
  ASSERT_EQ(runs.exit_code, 0) << runs.errors;
  EXPECT_EQ(json::parse(runs.output).size(), 1U) << runs.output;
}

TEST_F(Sweep, DaemonsForgetACoordinatorThatWasKilled) {
  Daemon first("first", folder());
  Daemon second("second", folder());
  const auto devices = inventory({{"first", first.address()}, {"second", second.address()}});
  auto arguments = small_sweep({"--splits", "modules", "--rounds", "4", "--devices", devices});
  arguments.insert(arguments.begin(), "paretoctl");
  Process sweep(arguments);
  ASSERT_TRUE(sweep.wait_for_output("round 1")) << sweep.errors();
  sweep.signal(SIGKILL);
  json list;
  const auto held = [&] {
    const auto seen = paretoctl({"devices", "--devices", devices, "--json"});
    EXPECT_EQ(seen.exit_code, 0) << seen.errors;
    list = json::parse(seen.output);
    int count = 0;
    for (const json& device : list)
      count += device["shards"].get<int>() + device["stages"].get<int>();
    return count;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (held() > 0 && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(held(), 0) << list.dump(2);
}

TEST_F(Sweep, TwoSweepsShareTheSameDaemons) {
  Daemon first("first", folder());
  Daemon second("second", folder());
  const auto devices = inventory({{"first", first.address()}, {"second", second.address()}});
  auto arguments = small_sweep({"--splits", "after:features.3", "--devices", devices, "--share"});
  arguments.insert(arguments.begin(), "paretoctl");
  Process a(arguments);
  arguments[3] = path("other.db");
  Process b(arguments);
  EXPECT_EQ(a.wait(), 0) << a.errors();
  EXPECT_EQ(b.wait(), 0) << b.errors();
  first.process().signal(SIGTERM);
  EXPECT_EQ(first.process().wait(), 0) << first.process().errors();
}

}  // namespace
}  // namespace pareto::test
