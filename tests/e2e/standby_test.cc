// Deployments that another program goes on with: a standby, or the same command again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "core/base/clock.h"
#include "tests/e2e/standby_fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

using testing::HasSubstr;

class StandbyFaults : public LoggedDeploy {
 protected:
  /// Starts a deployment and one that stands by for it, and waits until both are at work.
  struct Pair {
    Pair(const std::vector<std::string>& first, const std::vector<std::string>& second)
        : primary(first), standby(second) {}
    Process primary;
    Process standby;
  };
  std::unique_ptr<Pair> start(const std::string& name, std::size_t answers) {
    auto pair = std::make_unique<Pair>(deploy(name, {}), deploy(name, {"--standby"}));
    EXPECT_TRUE(pair->standby.wait_for_output("standing by")) << pair->standby.errors();
    EXPECT_TRUE(wait_for_lines(name, answers + 1)) << pair->primary.errors();
    return pair;
  }

  std::mt19937 random_{39};
};

TEST_F(StandbyFaults, TakesOverFromOneThatWasKilled) {
  ASSERT_NO_FATAL_FAILURE(set_up(2, 600, {"paretod"}));
  FaultRow row{.fault = "coordinator killed (SIGKILL) mid-deploy, with a standby",
               .expected = "taken over ≤ 5 s; 0 lost, 0 doubled, 0 wrong",
               .cycles = cycles(2, 50)};
  std::vector<Nanoseconds> taken;
  std::uint64_t faults = 0;
  for (std::size_t i = 0; i < row.cycles; ++i) {
    const std::string name = fmt::format("killed-{}", i);
    const auto pair = start(name, std::uniform_int_distribution<std::size_t>(1, 300)(random_));
    pair->primary.signal(SIGKILL);
    const TimePoint killed = std::chrono::steady_clock::now();
    ASSERT_TRUE(pair->standby.wait_for_output("going on in term 2")) << pair->standby.errors();
    taken.push_back(std::chrono::steady_clock::now() - killed);
    pair->primary.wait();
    EXPECT_EQ(pair->standby.wait(), 0) << pair->standby.errors();
    const auto verdict = expect_whole(name);
    if (!verdict.value("holds", false)) ++faults;
    if (HasFailure()) return;
  }
  row.add("taken over", taken);
  row.add("histories with a fault", faults);
  record(row);
}

TEST_F(StandbyFaults, AStoppedOneThatGoesOnFindsItselfReplaced) {
  ASSERT_NO_FATAL_FAILURE(set_up(2, 600, {"paretod"}));
  FaultRow row{.fault = "coordinator stopped (SIGSTOP) mid-deploy until a standby has taken over",
               .expected = "its term is over: it says so and ends; 0 lost, 0 doubled, 0 wrong",
               .cycles = cycles(1, 20)};
  std::vector<Nanoseconds> taken;
  for (std::size_t i = 0; i < row.cycles; ++i) {
    const std::string name = fmt::format("stopped-{}", i);
    const auto pair = start(name, std::uniform_int_distribution<std::size_t>(1, 200)(random_));
    pair->primary.signal(SIGSTOP);
    const TimePoint stopped = std::chrono::steady_clock::now();
    ASSERT_TRUE(pair->standby.wait_for_output("going on in term 2")) << pair->standby.errors();
    taken.push_back(std::chrono::steady_clock::now() - stopped);
    pair->primary.signal(SIGCONT);
    EXPECT_EQ(pair->primary.wait(), 1) << pair->primary.errors();
    EXPECT_THAT(pair->primary.errors(), HasSubstr("has taken over with term 2"));
    EXPECT_EQ(pair->standby.wait(), 0) << pair->standby.errors();
    expect_whole(name);
    if (HasFailure()) return;
  }
  row.add("taken over", taken);
  record(row);
}

TEST_F(StandbyFaults, TheSameCommandGoesOnWithWhatIsLeft) {
  ASSERT_NO_FATAL_FAILURE(set_up(2, 600, {"paretod"}));
  FaultRow row{.fault = "coordinator killed (SIGKILL) mid-deploy, the same command again",
               .expected = "goes on with what is left; 0 lost, 0 doubled, 0 wrong",
               .cycles = cycles(3, 50)};
  for (std::size_t i = 0; i < row.cycles && lines("again") < 500; ++i) {
    Process deployed(deploy("again", {}));
    ASSERT_TRUE(wait_for_lines("again", lines("again") + 5)) << deployed.errors();
    deployed.signal(SIGKILL);
    deployed.wait();
  }
  const auto last = run(deploy("again", {}));
  EXPECT_EQ(last.exit_code, 0) << last.errors;
  const auto verdict = expect_whole("again");
  const auto standby = run(deploy("again", {"--standby"}));
  EXPECT_EQ(standby.exit_code, 0) << standby.errors;
  EXPECT_THAT(standby.errors, HasSubstr("every request has its answer"));
  {
    std::ofstream names(path("names.txt"));
    names << path("f3.npy") << '\n';
  }
  const auto other = run(deploy("again", {}));
  EXPECT_EQ(other.exit_code, 2) << other.errors;
  EXPECT_THAT(other.errors, HasSubstr("goes on with the requests that it began with"));
  row.add("terms", verdict.value("terms", std::uint64_t{0}));
  record(row);
}

TEST_F(StandbyFaults, ADeviceThatMovedIsFoundByItsName) {
  if (::geteuid() != 0) GTEST_SKIP() << "names of its own need root";
  ASSERT_NO_FATAL_FAILURE(set_up(2, 600, {"paretod"}));
  FaultRow row{.fault = "coordinator killed, and the name of a device leads elsewhere",
               .expected = "the standby resolves it again and takes over; 0 lost, 0 doubled"};
  const std::string& address = daemons_[1]->address();
  const std::string port = address.substr(address.rfind(':'));
  inventory_ = inventory({{"device-0", daemons_[0]->address()}, {"device-1", "moves.test" + port}});
  // Of the addresses of a name the one that answers is taken, and nobody listens at the second.
  const auto lead_to = [&](const std::string& host) {
    std::ofstream(path("hosts")) << host << " moves.test\n127.0.0.9 moves.test" << std::endl;
  };
  lead_to(address.substr(0, address.rfind(':')));
  const auto named = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"/usr/bin/unshare",
                                   "--mount",
                                   "/bin/sh",
                                   "-c",
                                   "mount --bind " + path("hosts") + " /etc/hosts && exec \"$@\"",
                                   "sh"};
    for (std::string& word : deploy("moved", more, test::programs_folder() + "/paretoctl")) {
      words.push_back(std::move(word));
    }
    return words;
  };
  Process primary(named({}));
  Process standby(named({"--standby"}));
  ASSERT_TRUE(standby.wait_for_output("standing by")) << standby.errors();
  ASSERT_TRUE(wait_for_lines("moved", 5)) << primary.errors();
  primary.signal(SIGKILL);
  primary.wait();
  daemons_[1]->process().signal(SIGKILL);
  daemons_[1]->process().wait();
  Process elsewhere({"paretod", "--insecure", "--listen", "127.0.0.3" + port, "--data",
                     "tcp=127.0.0.3:0", "--name", "device-1", "--state-dir", path("elsewhere"),
                     "--log-level", "warn", "--threads", "1", "--discovery", "off", "--ready-fd",
                     "1"});
  ASSERT_TRUE(elsewhere.wait_for_output("\"pid\":")) << elsewhere.errors();
  const TimePoint moved = std::chrono::steady_clock::now();
  lead_to("127.0.0.3");
  ASSERT_TRUE(standby.wait_for_output("going on in term 2")) << standby.errors();
  row.add("taken over", {std::chrono::steady_clock::now() - moved});
  EXPECT_EQ(standby.wait(), 0) << standby.errors();
  expect_whole("moved");
  record(row);
}

TEST_F(StandbyFaults, WhatNobodyCouldGoOnWithIsRefused) {
  ASSERT_NO_FATAL_FAILURE(set_up(2, 4, {"paretod"}));
  const auto refused = [&](const std::vector<std::string>& more, const std::string& why) {
    std::vector<std::string> arguments{"deploy", "--plan", path("plan.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = paretoctl(arguments);
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_THAT(done.errors, HasSubstr(why));
  };
  refused({"--devices", inventory_, "--log", log("x"), "--standby"}, "--requests FILE");
  refused({"--log", log("x"), "--standby", path("f0.npy")}, "name them (--devices)");
  refused({"--devices", inventory_, "--standby", path("f0.npy")}, "--log");
  std::ofstream(log("x")) << R"({"term":1,"lease":"deploy-1","plan":"of another"})" << '\n';
  refused({"--devices", inventory_, "--log", log("x"), path("f0.npy")}, "another plan");
}

TEST_F(StandbyFaults, ListsThatGrowEndWithADot) {
  ASSERT_NO_FATAL_FAILURE(set_up(2, 4, {"paretod"}));
  Process deployed(deploy("quiet-too", {"--growing"}));
  ASSERT_TRUE(wait_for_lines("quiet-too", 5)) << deployed.errors();
  {
    std::ofstream names(path("names.txt"), std::ios::app);
    names << path("f0.npy") << std::endl;
    ASSERT_TRUE(wait_for_lines("quiet-too", 6)) << deployed.errors();
    names << "." << std::endl;
  }
  EXPECT_EQ(deployed.wait(), 0) << deployed.errors();
  EXPECT_THAT(deployed.errors(), HasSubstr("5 requests, 0 failed"));
}

}  // namespace
}  // namespace pareto::test
