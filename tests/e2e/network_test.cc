// Emulated networks from the command line: daemons in namespaces of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;

class Networks : public EndToEnd {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    std::ofstream(path("slow.yaml")) << "delay: 20ms\nrate: 50mbit\n";
  }
  /// This kernel or container cannot emulate a link.
  static bool lacks_something(const Finished& done) {
    return done.errors.find("no network namespaces") != std::string::npos ||
           done.errors.find("there is no /dev/net/tun") != std::string::npos;
  }
};

TEST_F(Networks, AreADimensionOfASweep) {
  const auto done =
      paretoctl(small_sweep({"--splits", "after:features.3", "--transport", "tcp", "--rounds", "1",
                             "--window", "1", "--network", "none," + path("slow.yaml"), "--json"}));
  if (lacks_something(done)) GTEST_SKIP() << done.errors;
  ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 4) << done.errors;
  const json run = json::parse(done.output);
  // (1 split point + 2 one-device plans) x 2 conditions
  ASSERT_EQ(run["trials"].size(), 6U);
  for (const json& trial : run["trials"]) {
    const bool slow = trial["condition"] == "slow";
    EXPECT_EQ(slow, trial["id"].get<std::string>().ends_with("/slow"));
    if (trial["status"] == "failed" || trial["status"] == "skipped") {
      // A machine too busy to emulate the link says so, rather than to measure another one.
      EXPECT_THAT(trial["failure"].get<std::string>(), testing::HasSubstr("network "));
      continue;
    }
    ASSERT_EQ(trial["status"], "ok") << trial.dump(1);
    const double round_trip = trial["network"]["round_trip_ms"];
    EXPECT_EQ(round_trip >= 40, slow) << round_trip;
    // What is on the device next to the coordinator does not cross the link.
    const bool crosses = trial["plan"]["stages"].back()["device"] == "local-1";
    if (slow && crosses) {
      EXPECT_GE(trial["latency_ms"]["p50"].get<double>(), 40) << trial["id"];
    }
  }
}

TEST_F(Networks, OnePipelineRunsThePlansWhoseConnectionsTakeLongToOpen) {
  const auto done =
      paretoctl(small_sweep({"--splits", "percent:30,percent:50,percent:70", "--transport", "tcp",
                             "--rounds", "2", "--network", path("slow.yaml"), "--json"}));
  if (lacks_something(done)) GTEST_SKIP() << done.errors;
  ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 4) << done.errors;
  const json run = json::parse(done.output);
  int measured = 0;
  for (const json& trial : run["trials"]) {
    if (trial["status"] != "ok" || trial["split"].is_null()) continue;
    ++measured;
    // Whatever the pipeline ran before, these are the plan's own.
    const json& link = trial["links"][1];
    EXPECT_GE(link["wire_bytes"], trial["split"]["boundary_bytes"]);
    EXPECT_LE(link["wire_bytes"], trial["split"]["boundary_bytes"].get<int>() + 4'000);
    EXPECT_LT(trial["output_error"]["max"].get<double>(), 1e-3) << trial["id"];
  }
  if (done.exit_code == 4) return;  // a machine too busy to emulate the link
  EXPECT_EQ(measured, 3);
  // One of each device alone, the reference plan's, and one for all splits.
  EXPECT_LE(run["time"]["openings"], 4);
}

TEST_F(Networks, ThatCannotBeEmulatedAreSaidOnceAndTheOthersMeasured) {
  std::ofstream(path("impossible.yaml")) << "rate: 100gbit\n";
  const auto done = paretoctl(
      small_sweep({"--splits", "after:features.3", "--transport", "tcp", "--rounds", "1",
                   "--window", "1", "--network", "none," + path("impossible.yaml"), "--json"}));
  if (lacks_something(done)) GTEST_SKIP() << done.errors;
  EXPECT_EQ(done.exit_code, 4) << done.errors;
  const json run = json::parse(done.output);
  ASSERT_EQ(run["trials"].size(), 6U);
  for (const json& trial : run["trials"]) {
    if (trial["condition"] == "none") {
      EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
      continue;
    }
    EXPECT_EQ(trial["status"], "skipped");
    // What was asked for, what was reached, and what to do.
    EXPECT_THAT(trial["failure"].get<std::string>(),
                testing::AllOf(testing::StartsWith("network impossible: "),
                               testing::HasSubstr("Mbit/s of 100000"),
                               testing::HasSubstr("no more than it reached")));
  }
  const std::size_t said = done.errors.find("3 of 6 plans skipped: network impossible: ");
  ASSERT_NE(said, std::string::npos) << done.errors;
  EXPECT_EQ(done.errors.find("network impossible: "), done.errors.rfind("network impossible: "))
      << done.errors;
  EXPECT_THAT(done.errors, testing::HasSubstr("is not finished; go on with"));
}

TEST_F(Networks, AreMeasuredAgainstWhatWasAskedFor) {
  const auto done = paretoctl({"netem", "check", path("slow.yaml"), "--json"});
  if (lacks_something(done)) GTEST_SKIP() << done.errors;
  const json links = json::parse(done.output);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0]["condition"], "slow");
  EXPECT_EQ(links[0]["asked_round_trip_ms"], 40);
  // Never early and never faster; on a busy machine it may be late, and says so.
  EXPECT_GE(links[0]["round_trip_ms"].get<double>(), 40);
  EXPECT_LE(links[0]["forward"]["bits_per_s"].get<double>(), 50e6 * 1.5);
  EXPECT_EQ(links[0]["holds"].get<bool>(), done.exit_code == 0) << done.output;
  EXPECT_EQ(links[0]["holds"].get<bool>(), links[0]["problem"].get<std::string>().empty());
}

TEST_F(Networks, ThatCannotBeHadKeepATestBedFromComingUp) {
  std::ofstream(path("fast.yaml")) << "rate: 100gbit\n";
  const std::string name = "e2e-fast-" + std::to_string(::getpid());
  std::ofstream(path("bed.yaml")) << "name: " << name << "\nnetwork: fast.yaml\ndevices:\n"
                                  << "  - {name: a}\n  - {name: b}\n";
  const auto up = paretoctl({"testbed", "up", path("bed.yaml")});
  if (lacks_something(up)) GTEST_SKIP() << up.errors;
  EXPECT_EQ(up.exit_code, 3) << up.errors;
  EXPECT_THAT(up.errors, testing::HasSubstr("not what was asked for"));
  EXPECT_THAT(paretoctl({"testbed", "status", name}).errors, testing::HasSubstr("no test bed"));
}

}  // namespace
}  // namespace pareto::test
