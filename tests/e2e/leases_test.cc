// Whose turn it is on devices that several programs use, and devices that their coordinator left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "tests/e2e/standby_fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class LeaseFaults : public LoggedDeploy {
 protected:
  LeaseFaults() {
    for (const char* name : {"first", "second"}) {
      daemons_.push_back(std::make_unique<Daemon>(name, folder()));
    }
    inventory_ = inventory({{"first", daemons_[0]->address()}, {"second", daemons_[1]->address()}});
  }
  std::vector<std::string> sweep(const std::vector<std::string>& more) const {
    auto arguments = small_sweep({"--splits", "modules", "--rounds", "400", "--exhaustive",
                                  "--devices", inventory_, "--report", "none"});
    arguments.insert(arguments.begin(), "paretoctl");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  json devices() const {
    const auto seen = paretoctl({"devices", "--devices", inventory_, "--json"});
    EXPECT_EQ(seen.exit_code, 0) << seen.errors;
    return json::parse(seen.output, nullptr, false);
  }
  bool are_free() const {
    for (const json& device : devices()) {
      if (device["shards"] != 0 || device["stages"] != 0 || !device["used_by"].empty()) {
        return false;
      }
    }
    return true;
  }
  std::vector<std::string> with_model(std::vector<std::string> arguments) const {
    for (const std::string& word : small_model()) arguments.push_back(word);
    return arguments;
  }
};

TEST_F(LeaseFaults, DevicesAreFreeSoonAfterTheirCoordinator) {
  FaultRow row{.fault = "coordinator killed (SIGKILL) or stopped (SIGSTOP) mid-sweep",
               .expected = "devices free ≤ 5 s",
               .cycles = cycles(1, 10)};
  std::vector<Nanoseconds> after_kill;
  std::vector<Nanoseconds> after_stop;
  for (std::size_t i = 0; i < 2 * row.cycles; ++i) {
    const bool stops = i % 2 == 1;
    Process measuring(sweep({}));
    ASSERT_TRUE(measuring.wait_for_output("round 1")) << measuring.errors();
    measuring.signal(stops ? SIGSTOP : SIGKILL);
    const TimePoint gone = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] { return are_free(); })) << devices().dump(2);
    (stops ? after_stop : after_kill).push_back(std::chrono::steady_clock::now() - gone);
    if (!stops) continue;
    measuring.signal(SIGCONT);
    EXPECT_NE(measuring.wait(), 0);
    EXPECT_THAT(measuring.errors(), HasSubstr(" is not finished; go on with: "));
  }
  row.add("free after a kill", after_kill);
  row.add("free after a stop", after_stop);
  record(row);
}

TEST_F(LeaseFaults, WhoMeasuresIsAloneAndOthersWaitTheirTurn) {
  Process measuring(sweep({}));
  ASSERT_TRUE(measuring.wait_for_output("round 1")) << measuring.errors();
  for (const json& device : devices()) {
    EXPECT_EQ(device["used_by"][0]["command"], "sweep") << device;
    EXPECT_EQ(device["used_by"][0]["exclusive"], true) << device;
  }
  const auto shown = paretoctl({"devices", "--devices", inventory_});
  EXPECT_THAT(shown.output, HasSubstr("first: used by sweep of "));
  const auto profile = paretoctl(
      with_model({"profile", "--devices", inventory_, "--store", path("other.db"), "--share"}));
  EXPECT_EQ(profile.exit_code, 3) << profile.errors;
  EXPECT_THAT(profile.errors, AllOf(HasSubstr("it is used by sweep of "),
                                    HasSubstr("--wait 10m waits for its turn")));
  const auto run_it =
      with_model({"run", "--devices", inventory_, "--split", "percent:50", "--requests", "3"});
  EXPECT_EQ(paretoctl(run_it).exit_code, 3);
  auto waits = run_it;
  waits.insert(waits.begin(), "paretoctl");
  waits.insert(waits.end(), {"--wait", "5m"});
  Process waiting(waits);
  ASSERT_TRUE(waiting.wait_for_output("waiting for ")) << waiting.errors();
  measuring.signal(SIGINT);
  measuring.wait();
  EXPECT_EQ(waiting.wait(), 0) << waiting.errors();
}

TEST_F(LeaseFaults, ADeploymentKeepsOutOnlyThoseWhoMeasureAlone) {
  const auto planned =
      paretoctl(with_model({"run", "--devices", inventory_, "--split", "percent:50", "--requests",
                            "3", "--save-plan", path("plan.json")}));
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  std::ofstream(path("names.txt")) << "";
  Process deployed(deploy("other", {"--growing"}));
  ASSERT_TRUE(deployed.wait_for_output("ready")) << deployed.errors();
  const auto refused = run(sweep({}));
  EXPECT_EQ(refused.exit_code, 3) << refused.errors;
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("it is used by deploy of "),
                                    HasSubstr("--share measures next to it")));
  const auto next_to_it = paretoctl(
      with_model({"run", "--devices", inventory_, "--split", "percent:50", "--requests", "3"}));
  EXPECT_EQ(next_to_it.exit_code, 0) << next_to_it.errors;
  const auto second = run(deploy("other", {}));
  EXPECT_EQ(second.exit_code, 3) << second.errors;
  EXPECT_THAT(second.errors, HasSubstr("it is used by deploy of "));
  deployed.signal(SIGINT);
  EXPECT_EQ(deployed.wait(), 0) << deployed.errors();
}

TEST_F(LeaseFaults, AKilledSweepRepeatsAtMostTheTrialThatRan) {
  FaultRow row{.fault = "coordinator killed (SIGKILL) mid-sweep, and the run resumed",
               .expected = "at most the running trial repeated; devices free ≤ 5 s",
               .cycles = cycles(3, 200)};
  const auto rounds = [&] {
    const auto front = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
    int sum = 0;
    const json run = json::parse(front.output, nullptr, false);
    if (!run.is_object()) return sum;
    for (const json& trial : run["trials"]) sum += trial.value("rounds", 0);
    return sum;
  };
  // Each look is a program, and takes time from what is measured.
  constexpr std::chrono::milliseconds kPause{200};
  std::vector<Nanoseconds> freed;
  int before = 0;
  int lost = 0;
  for (std::size_t i = 0; i < row.cycles; ++i) {
    Process measuring(i == 0 ? sweep({})
                             : std::vector<std::string>{"paretoctl", "sweep", "--store",
                                                        path("results.db"), "--resume", "last"});
    ASSERT_TRUE(measuring.wait_for_output("round ")) << measuring.errors();
    ASSERT_TRUE(eventually([&] { return rounds() > before; }, kPause)) << measuring.errors();
    measuring.signal(SIGKILL);
    const TimePoint killed = std::chrono::steady_clock::now();
    measuring.wait();
    ASSERT_TRUE(eventually([&] { return are_free(); }, kPause)) << devices().dump(2);
    freed.push_back(std::chrono::steady_clock::now() - killed);
    const int now = rounds();
    if (now < before) ++lost;
    before = now;
  }
  EXPECT_EQ(lost, 0) << "rounds that were measured are kept";
  row.add("free after", freed);
  row.add("resumptions that lost a measured round", lost);
  record(row);
}

}  // namespace
}  // namespace pareto::test
