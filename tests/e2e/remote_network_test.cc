// Devices that make their own network worse at the coordinator's request: two namespaces with a
// link for control and one for data, a real daemon in each. A rate alone takes no netem, so that
// this runs on any kernel with tbf.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "netem/network_namespace.h"
#include "netem/run_program.h"
#include "netem/traffic_control.h"
#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using netem::NetworkNamespace;
using netem::run_program;
using nlohmann::json;
using ::testing::HasSubstr;

class RemoteNetworks : public EndToEnd {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    auto near = NetworkNamespace::create();
    auto far = NetworkNamespace::create();
    if (!near || !far) GTEST_SKIP() << (near ? far : near).error().message;
    near_.emplace(*std::move(near));
    far_.emplace(*std::move(far));
    ASSERT_TRUE(join("ctl", "10.8.0"));
    ASSERT_TRUE(join("data", "10.9.0"));
    std::ofstream(path("slow.yaml")) << "rate: 20mbit\n";
  }

  /// A pair of devices called `name`, 10.8.0.1 on the near side and .2 on the far one.
  Expected<> join(const std::string& name, const std::string& network) {
    PARETO_TRY(near_->run([&] {
      return run_program({"ip", "link", "add", "name", name, "type", "veth", "peer", "name", name,
                          "netns", far_->path()});
    }));
    const auto set_up = [&](const NetworkNamespace& where, const char* host) {
      return where.run([&]() -> Expected<> {
        PARETO_TRY(run_program({"ip", "address", "add", network + host + "/24", "dev", name}));
        return run_program({"ip", "link", "set", "dev", name, "up"});
      });
    };
    PARETO_TRY(set_up(*near_, ".1"));
    return set_up(*far_, ".2");
  }

  /// Starts a daemon and returns its control address.
  std::string start(std::unique_ptr<Process>& daemon, const NetworkNamespace& where,
                    const std::string& name, const std::string& host, const char* allowed) {
    static_cast<void>(where.run([&]() -> Expected<> {
      daemon = std::make_unique<Process>(std::vector<std::string>{
          "paretod", "--insecure", "--listen", "10.8.0." + host + ":0", "--data",
          "tcp=10.9.0." + host + ":0", "--name", name, "--state-dir", path(name), "--log-level",
          "warn", "--threads", "1", "--allow-netem", allowed, "--ready-fd", "1"});
      return {};
    }));
    EXPECT_TRUE(daemon->wait_for_output("\"pid\":")) << daemon->errors();
    return json::parse(daemon->output())["control"];
  }
  void start_both(const char* allowed = "true") {
    const std::string first = start(first_, *near_, "first", "1", allowed);
    const std::string second = start(second_, *far_, "second", "2", allowed);
    std::ofstream(path("inventory.yaml")) << "devices:\n  - {name: first, address: '" << first
                                          << "', netem_interface: data, insecure: true}\n"
                                          << "  - {name: second, address: '" << second
                                          << "', netem_interface: data, insecure: true}\n";
  }
  std::vector<std::string> sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{
        "--splits", "after:features.3", "--transport",         "tcp", "--window",
        "1",        "--devices",        path("inventory.yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return small_sweep(arguments);
  }
  /// Returns what stands at the root of a side's data device: "tbf" while it is made worse.
  static std::string root_queue(const NetworkNamespace& where) {
    std::string kind;
    EXPECT_TRUE(where.run([&]() -> Expected<> {
      PARETO_ASSIGN(const netem::DeviceQueues queues, netem::queues_of("data"));
      kind = queues.root_kind;
      return {};
    }));
    return kind;
  }

  /// Starts a coordinator that makes the network slow until it is ended. Returns once it has done
  /// so to the far side.
  std::unique_ptr<Process> endless_sweep() const {
    std::unique_ptr<Process> coordinator;
    EXPECT_TRUE(near_->run([&]() -> Expected<> {
      auto arguments = sweep({"--network", path("slow.yaml"), "--rounds", "1000"});
      arguments.insert(arguments.begin(), "paretoctl");
      coordinator = std::make_unique<Process>(arguments);
      return {};
    }));
    EXPECT_TRUE(comes_to_be_slow(*far_, true)) << coordinator->errors();
    return coordinator;
  }
  /// Returns whether a side is made worse, or no longer, within two minutes.
  static bool comes_to_be_slow(const NetworkNamespace& where, bool slow) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while ((root_queue(where) == "tbf") != slow) {
      if (std::chrono::steady_clock::now() > deadline) return false;
    }
    return true;
  }

  std::optional<NetworkNamespace> near_;
  std::optional<NetworkNamespace> far_;
  std::unique_ptr<Process> first_;
  std::unique_ptr<Process> second_;
};

TEST_F(RemoteNetworks, AreADimensionOfASweep) {
  start_both();
  Finished done;
  ASSERT_TRUE(near_->run([&]() -> Expected<> {
    done = paretoctl(sweep({"--network", "none," + path("slow.yaml"), "--rounds", "1", "--json"}));
    return {};
  }));
  ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 4) << done.errors;
  const json run = json::parse(done.output);
  std::map<std::string, int> measured;
  for (const json& trial : run["trials"]) {
    if (trial["status"] == "ok") ++measured[trial["condition"]];
    if (trial["status"] == "failed" || trial["status"] == "skipped") {
      EXPECT_THAT(trial["failure"].get<std::string>(), HasSubstr("network slow"));
      continue;
    }
    const double rate = trial["network"]["forward_mbit_per_s"];
    if (trial["condition"] == "slow") {
      EXPECT_LE(rate, 25);
    } else {
      EXPECT_GT(rate, 25);
    }
  }
  EXPECT_GT(measured["none"], 0);
  EXPECT_GT(measured["slow"], 0) << done.errors;
  EXPECT_NE(root_queue(*near_), "tbf") << "all is as before";
  EXPECT_NE(root_queue(*far_), "tbf");
}

TEST_F(RemoteNetworks, AreAsBeforeWhenTheCoordinatorIsKilled) {
  start_both();
  std::unique_ptr<Process> coordinator = endless_sweep();
  coordinator->signal(SIGKILL);
  EXPECT_TRUE(first_->wait_for_output("ran out")) << first_->errors();
  EXPECT_TRUE(second_->wait_for_output("ran out")) << second_->errors();
  // They say so first, and then do away with the queue.
  EXPECT_TRUE(comes_to_be_slow(*near_, false));
  EXPECT_TRUE(comes_to_be_slow(*far_, false));
}

TEST_F(RemoteNetworks, AreRepairedByTheNextDaemonWhenOneIsKilled) {
  start_both();
  std::unique_ptr<Process> coordinator = endless_sweep();
  second_->signal(SIGKILL);
  coordinator.reset();
  EXPECT_EQ(root_queue(*far_), "tbf") << "nobody could take it back";
  start(second_, *far_, "second", "2", "true");
  EXPECT_NE(root_queue(*far_), "tbf");
}

TEST_F(RemoteNetworks, AreRefusedByADeviceThatDoesNotAllowIt) {
  start_both("false");
  Finished done;
  ASSERT_TRUE(near_->run([&]() -> Expected<> {
    done = paretoctl(sweep({"--network", path("slow.yaml"), "--rounds", "1", "--json"}));
    return {};
  }));
  EXPECT_EQ(done.exit_code, 4) << done.errors;
  EXPECT_THAT(done.output, HasSubstr("allow_netem: true"));
  EXPECT_NE(root_queue(*near_), "tbf");
}

}  // namespace
}  // namespace pareto::test
