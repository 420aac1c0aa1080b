// Test beds from the command line: put up, used, killed, taken down.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/control_group.h"
#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Testbeds : public EndToEnd {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "test beds need root";
    std::ofstream(path("slow.yaml")) << "delay: 10ms\n";
    std::ofstream(bed_) << "name: " << name_
                        << "\nnetwork: slow.yaml\ndevices:\n"
                           "  - {name: left, speed: 0.8, steady: left.times, memory: 4GiB}\n"
                           "  - {name: right, memory: 4GiB}\n";
    const auto up = paretoctl({"testbed", "up", bed_, "--json"});
    for (const char* lack : {"no network namespaces", "no /dev/net/tun", "no control groups",
                             "Read-only file system"}) {
      if (up.errors.find(lack) != std::string::npos) GTEST_SKIP() << up.errors;
    }
    ASSERT_EQ(up.exit_code, 0) << up.errors;
    up_ = json::parse(up.output);
  }
  void TearDown() override {
    if (::geteuid() == 0) paretoctl({"testbed", "down", name_});
  }

  /// Returns its row of `testbed status`; null if it is not up.
  json status() const {
    for (const json& bed : json::parse(paretoctl({"testbed", "status", "--json"}).output)) {
      if (bed["name"] == name_) return bed;
    }
    return nullptr;
  }
  bool has_control_group() const {
    const auto tree = find_controller("memory");
    return tree && std::filesystem::exists(tree->root / "pareto-edge" / name_);
  }
  /// A process that has ended may still wait for its parent to notice.
  static bool runs(const json& bed) {
    std::ifstream file(fmt::format("/proc/{}/stat", bed["process"].get<int>()));
    std::string text;
    if (!std::getline(file, text)) return false;
    return text.find(") Z ") == std::string::npos && text.find(") X ") == std::string::npos;
  }

  const std::string name_ = "e2e-" + std::to_string(::getpid());
  const std::string bed_ = path(name_ + ".yaml");
  json up_;
};

TEST_F(Testbeds, StayUntilTheyAreTakenDown) {
  EXPECT_EQ(up_["name"], name_);
  ASSERT_EQ(up_["devices"].size(), 2U);
  EXPECT_EQ(up_["devices"][0]["speed"], 0.8);
  EXPECT_EQ(up_["devices"][0]["steady"], path("left.times"));
  EXPECT_TRUE(std::filesystem::exists(path("left.times")));
  EXPECT_TRUE(has_control_group());

  const auto again = paretoctl({"testbed", "up", bed_, "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(json::parse(again.output)["process"], up_["process"]) << "it is up already";
  EXPECT_EQ(status()["process"], up_["process"]);

  const auto devices = paretoctl({"devices", "--testbed", name_, "--json"});
  ASSERT_EQ(devices.exit_code, 0) << devices.errors;
  EXPECT_THAT(devices.output, HasSubstr("right"));

  const auto down = paretoctl({"testbed", "down", bed_});
  EXPECT_EQ(down.exit_code, 0) << down.errors;
  EXPECT_FALSE(runs(up_));
  EXPECT_FALSE(has_control_group());
  EXPECT_TRUE(status().is_null());
  EXPECT_THAT(paretoctl({"testbed", "down", name_}).errors, HasSubstr("was not up"));
}

TEST_F(Testbeds, AreWellInTheEyesOfDoctor) {
  const auto done =
      paretoctl({"doctor", "--testbed", name_, "--store", path("results.db"), "--json"});
  ASSERT_FALSE(done.output.empty()) << done.errors;
  const json document = json::parse(done.output);
  int ways = 0;
  for (const json& finding : document["findings"]) {
    const bool of_a_way = finding["subject"].get<std::string>().find(" to ") != std::string::npos;
    if (!of_a_way) continue;
    ++ways;
    EXPECT_NE(finding["severity"], "fail") << finding;
  }
  EXPECT_GE(ways, 4) << "from the coordinator and between both, in either direction";
}

TEST_F(Testbeds, MayBeJoinedByASweep) {
  const auto done =
      paretoctl(small_sweep({"--splits", "after:features.3", "--transport", "tcp", "--rounds", "1",
                             "--window", "1", "--testbed", name_, "--json"}));
  ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 4) << done.errors;
  const json run = json::parse(done.output);
  int measured = 0;
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["condition"], "slow");
    if (trial["status"] != "ok") continue;
    ++measured;
    EXPECT_GE(trial["network"]["round_trip_ms"].get<double>(), 20);
    if (trial["plan"]["stages"].back()["device"] == "right") {
      EXPECT_GE(trial["latency_ms"]["p50"].get<double>(), 20);
    }
  }
  EXPECT_GT(measured, 0) << done.errors;
  EXPECT_FALSE(status().is_null()) << "it was up before and stays so";

  const auto another =
      paretoctl(small_sweep({"--testbed", name_, "--network", "none", "--dry-run"}));
  EXPECT_EQ(another.exit_code, 2) << another.errors;
  EXPECT_THAT(another.errors, HasSubstr("testbed down"));
}

TEST_F(Testbeds, ArePlannedForAsTheyAre) {
  std::vector<std::string> arguments{
      "plan",    "--measured-cuts", "2",      "--testbed",       name_,
      "--store", path("plans.db"),  "--save", path("plan.json"), "--json"};
  const auto model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  const auto done = paretoctl(arguments);
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json plans = json::parse(done.output);
  ASSERT_EQ(plans["networks"].size(), 1U);
  EXPECT_EQ(plans["networks"][0]["condition"], "slow");
  arguments = {"run", "--plan", path("plan.json"), "--testbed", name_, "--requests", "3"};
  arguments.insert(arguments.end(), model.begin(), model.end());
  const auto run = paretoctl(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.errors;
}

TEST_F(Testbeds, AreWatchedByTheirName) {
  const auto watched =
      paretoctl({"top", "--testbed", name_, "--once", "--interval", "100ms", "--json"});
  ASSERT_EQ(watched.exit_code, 0) << watched.errors;
  const json devices = json::parse(watched.output)["devices"];
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0]["device"], "left");
  EXPECT_EQ(devices[1]["device"], "right");
  paretoctl({"testbed", "down", name_});
  const auto gone = paretoctl({"top", "--testbed", bed_, "--once"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.errors, HasSubstr("testbed up"));
}

TEST_F(Testbeds, LeaveNothingBehindWhenTheyAreKilled) {
  const auto folder = std::filesystem::path("/run/pareto-testbeds") / name_;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(::kill(up_["process"].get<int>(), SIGKILL), 0);
    while (runs(up_)) std::this_thread::yield();
    const auto again = paretoctl({"testbed", "up", bed_, "--json"});
    ASSERT_EQ(again.exit_code, 0) << again.errors;
    const json before = std::exchange(up_, json::parse(again.output));
    EXPECT_NE(before["process"], up_["process"]);
    for (const json& device : before["devices"]) {
      EXPECT_FALSE(runs(device)) << device.dump();
    }
  }
  EXPECT_EQ(paretoctl({"testbed", "down", name_}).exit_code, 0);
  EXPECT_FALSE(has_control_group());
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(Testbeds, OfAnotherFileWithTheirNameAreRefused) {
  std::ofstream(bed_, std::ios::app) << "  - {name: third}\n";
  const auto other = paretoctl({"testbed", "up", bed_});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.errors, HasSubstr("testbed down " + name_));
}

}  // namespace
}  // namespace pareto::test
