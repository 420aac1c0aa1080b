// Devices that fall silent without a word while requests cross them: a daemon that is stopped, and
// networks that are cut one way or both. Each device is a network namespace of its own, at a bridge
// that drops what a test says.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "netem/network_namespace.h"
#include "netem/run_program.h"
#include "tests/e2e/fault_fixture.h"
#include "tests/support/fault_figures.h"
#include "tests/support/text_count.h"

namespace pareto::test {
namespace {

using netem::NetworkNamespace;
using netem::run_program;
using nlohmann::json;
using testing::HasSubstr;

using SteadyTime = std::chrono::steady_clock::time_point;
SteadyTime clock_now() { return std::chrono::steady_clock::now(); }

enum class Silencing { kStop, kDeaf, kMute, kCut };

/// Time between requests.
constexpr std::chrono::milliseconds kPace{50};

/// Returns how long a fault lasts in the long form. In the short one it ends when it is found.
std::chrono::seconds length(Silencing how, std::size_t cycle) {
  if (how == Silencing::kStop) return std::chrono::seconds(20);
  if (cycle % 20 == 0) return std::chrono::seconds(60);
  return std::chrono::seconds(cycle % 20 == 10 ? 20 : 5);
}

/// Returns the fault with how long it lasts.
std::string lasting(const std::string& fault, Silencing how) {
  if (!long_faults()) return fault;
  return fault + (how == Silencing::kStop ? ", for 20 s"
                                          : ", for 5 s, one in twenty for 20 s and one for 60 s");
}

/// A coordinator and three devices at one bridge.
class SilenceFaults : public EndToEnd {
 protected:
  static constexpr std::size_t kDevices = 3;
  /// The one that falls silent: it has a neighbour on either side.
  static constexpr std::size_t kSilent = 1;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    auto bridge = NetworkNamespace::create();
    if (!bridge) GTEST_SKIP() << bridge.error().message;
    bridge_.emplace(*std::move(bridge));
    ASSERT_TRUE(in_bridge({"ip", "link", "add", "bridge", "type", "bridge"}));
    ASSERT_TRUE(in_bridge({"ip", "link", "set", "bridge", "up"}));
    for (std::size_t i = 0; i <= kDevices; ++i) ASSERT_NO_FATAL_FAILURE(join(i));
    std::ofstream inventory(path("inventory.yaml"));
    inventory << "devices:\n";
    for (std::size_t i = 0; i < kDevices; ++i) {
      inventory << fmt::format("  - {{name: pi-{}, address: '{}', insecure: true}}\n", i,
                               start_device(i));
    }
    inventory.close();
    write_npy(path("frame.npy"), {1, 3, 64, 64}, 1);
  }

  bool in_bridge(const std::vector<std::string>& program) const {
    const auto done = bridge_->run([&] { return run_program(program); });
    if (!done) ADD_FAILURE() << done.error().message;
    return done.has_value();
  }
  /// Makes a host with a port of the bridge: 0 is the coordinator.
  void join(std::size_t host) {
    auto made = NetworkNamespace::create();
    ASSERT_TRUE(made) << made.error().message;
    hosts_.push_back(*std::move(made));
    const std::string port = fmt::format("port{}", host);
    ASSERT_TRUE(in_bridge({"ip", "link", "add", port, "type", "veth", "peer", "name", "data",
                           "netns", hosts_.back().path()}));
    ASSERT_TRUE(in_bridge({"ip", "link", "set", port, "master", "bridge", "up"}));
    ASSERT_TRUE(in_bridge({"tc", "qdisc", "add", "dev", port, "clsact"}));
    const auto up = hosts_.back().run([&]() -> Expected<> {
      PARETO_TRY(run_program(
          {"ip", "address", "add", fmt::format("10.7.0.{}/24", host + 1), "dev", "data"}));
      return run_program({"ip", "link", "set", "dev", "data", "up"});
    });
    ASSERT_TRUE(up) << up.error().message;
  }
  /// Starts a daemon and returns its control address.
  std::string start_device(std::size_t device) {
    auto& daemon = daemons_[device];
    static_cast<void>(hosts_[device + 1].run([&]() -> Expected<> {
      const std::string any_port = fmt::format("10.7.0.{}:0", device + 2);
      const std::string name = fmt::format("pi-{}", device);
      daemon = std::make_unique<Process>(std::vector<std::string>{"paretod",     "--insecure",
                                                                  "--listen",    any_port,
                                                                  "--data",      "tcp=" + any_port,
                                                                  "--data",      "grpc=" + any_port,
                                                                  "--name",      name,
                                                                  "--state-dir", path(name),
                                                                  "--log-level", "warn",
                                                                  "--threads",   "1",
                                                                  "--discovery", "off",
                                                                  "--ready-fd",  "1"});
      return {};
    }));
    EXPECT_TRUE(daemon->wait_for_output("\"pid\":")) << daemon->errors();
    return json::parse(daemon->output())["control"];
  }
  /// Starts a coordinator at its port of the bridge.
  std::unique_ptr<Process> coordinator(const std::string& arguments) const {
    std::unique_ptr<Process> process;
    static_cast<void>(hosts_[0].run([&]() -> Expected<> {
      process = std::make_unique<Process>(std::vector<std::string>{
          "/bin/sh", "-c", fmt::format(fmt::runtime(arguments), fmt::arg("paretoctl", kProgram))});
      return {};
    }));
    return process;
  }

  /// Drops all that the bridge gets from a host (`mute`), or all that it would give it.
  void drop(std::size_t host, bool mute) const {
    in_bridge({"tc", "filter", "add", "dev", fmt::format("port{}", host),
               mute ? "ingress" : "egress", "bpf", "da", "bytecode", "1,6 0 0 2,"});
  }
  void undrop(std::size_t host, bool mute) const {
    in_bridge(
        {"tc", "filter", "del", "dev", fmt::format("port{}", host), mute ? "ingress" : "egress"});
  }
  void silence(Silencing how) const {
    if (how == Silencing::kStop) return daemons_[kSilent]->signal(SIGSTOP);
    if (how != Silencing::kMute) drop(kSilent + 1, false);
    if (how != Silencing::kDeaf) drop(kSilent + 1, true);
  }
  void heal(Silencing how) const {
    if (how == Silencing::kStop) return daemons_[kSilent]->signal(SIGCONT);
    if (how != Silencing::kMute) undrop(kSilent + 1, false);
    if (how != Silencing::kDeaf) undrop(kSilent + 1, true);
  }

  std::string errors() const { return slurp(path("errors")); }
  /// Waits until a text has come `times` times. Returns how long that took since `since`.
  static std::optional<Nanoseconds> until(TextCount& text, std::size_t times, SteadyTime since) {
    const SteadyTime deadline = clock_now() + std::chrono::minutes(2);
    while (text.count() < times) {
      if (clock_now() > deadline) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return clock_now() - since;
  }

  /// Makes the plan of three stages.
  void make_plan(const std::string& transport) {
    const auto planned = coordinator(fmt::format(
        "exec {{paretoctl}} run --engine plain --model squeezenet1_0 --input-shape 3x64x64 "
        "--num-classes 10 --split after:features.3,percent:60 --transport {} --devices {} "
        "--save-plan {} --requests 1",
        transport, path("inventory.yaml"), path("plan.json")));
    ASSERT_EQ(planned->wait(), 0) << planned->errors();
  }
  /// Starts a stream of requests without an end, and waits for its first answer. Its answers are in
  /// the file `log.jsonl`, and what it says in `errors`.
  std::unique_ptr<Process> start_stream(const std::string& flags) {
    EXPECT_EQ(::mkfifo(path("names").c_str(), 0600), 0);
    naming_ = std::make_unique<EndlessRequests>(path("names"),
                                                std::vector<std::string>{path("frame.npy")}, kPace);
    auto deploy = coordinator(
        fmt::format("exec {{paretoctl}} deploy --plan {} --devices {} --json {} < {} > {} 2> {}",
                    path("plan.json"), path("inventory.yaml"), flags, path("names"),
                    path("log.jsonl"), path("errors")));
    EXPECT_TRUE(until(answers_, 1, clock_now())) << errors();
    return deploy;
  }
  /// Ends the stream, and checks that each request was answered once and in order.
  void end_stream(Process& deploy) const {
    deploy.signal(SIGINT);
    EXPECT_EQ(deploy.wait(), 0) << errors();
    EXPECT_THAT(errors(), HasSubstr(" 0 failed"));
    const auto history = paretoctl({"history", path("log.jsonl")});
    EXPECT_EQ(history.exit_code, 0) << history.output;
    EXPECT_THAT(history.output, HasSubstr("0 lost, 0 duplicated, 0 out of order"));
  }

  /// Silences a device again and again mid-stream, and records what came of it.
  void survive(const std::string& transport, Silencing how, FaultRow row) {
    row.fault = lasting(row.fault, how);
    ASSERT_NO_FATAL_FAILURE(make_plan(transport));
    const auto deploy = start_stream("--on-loss wait --retry 10m");
    TextCount losses(path("errors"), "the pipeline is lost");
    TextCount returns(path("errors"), "ready again after");
    std::vector<Nanoseconds> detected;
    std::vector<Nanoseconds> back;
    for (std::size_t i = 1; i <= row.cycles; ++i) {
      const SteadyTime silenced = clock_now();
      silence(how);
      const auto lost = until(losses, i, silenced);
      ASSERT_TRUE(lost) << errors();
      detected.push_back(*lost);
      if (long_faults()) std::this_thread::sleep_until(silenced + length(how, i));
      const SteadyTime healed = clock_now();
      heal(how);
      const auto again = until(returns, i, healed);
      ASSERT_TRUE(again) << errors();
      back.push_back(*again);
      ASSERT_TRUE(until(answers_, answers_.count() + 5, healed)) << errors();
    }
    end_stream(*deploy);
    row.add("detected", detected);
    row.add("back after healing", back);
    record(row);
  }

  const std::string kProgram = test::programs_folder() + "/paretoctl";
  std::optional<NetworkNamespace> bridge_;
  std::vector<NetworkNamespace> hosts_;
  std::array<std::unique_ptr<Process>, kDevices> daemons_;
  std::unique_ptr<EndlessRequests> naming_;
  TextCount answers_{path("log.jsonl"), "latency_ms"};
};

constexpr const char* kExpected = "found ≤ 5 s, pipeline back ≤ 3 s after healing; history clean";

TEST_F(SilenceFaults, ADaemonThatIsStoppedOverTcp) {
  survive("tcp", Silencing::kStop,
          {.fault = "a stage's daemon is stopped (SIGSTOP), tcp",
           .expected = kExpected,
           .cycles = cycles(2, 100)});
}

TEST_F(SilenceFaults, ADaemonThatIsStoppedOverGrpc) {
  survive("grpc", Silencing::kStop,
          {.fault = "a stage's daemon is stopped (SIGSTOP), grpc",
           .expected = kExpected,
           .cycles = cycles(1, 100)});
}

TEST_F(SilenceFaults, ADeviceThatNothingReaches) {
  survive("tcp", Silencing::kDeaf,
          {.fault = "partition one way: nothing reaches a device",
           .expected = kExpected,
           .cycles = cycles(1, 100)});
}

TEST_F(SilenceFaults, ADeviceThatReachesNobody) {
  survive("grpc", Silencing::kMute,
          {.fault = "partition one way: a device reaches nobody",
           .expected = kExpected,
           .cycles = cycles(1, 100)});
}

TEST_F(SilenceFaults, ADeviceThatIsCutOff) {
  survive("tcp", Silencing::kCut,
          {.fault = "partition both ways (half-open connections)",
           .expected = kExpected,
           .cycles = cycles(2, 100)});
}

TEST_F(SilenceFaults, AStoppedDeviceIsLeftOut) {
  FaultRow row{.fault = "a stage's daemon is stopped, deploy --on-loss failover",
               .expected = "answers again ≤ 5 s, by the others; history clean"};
  ASSERT_NO_FATAL_FAILURE(make_plan("tcp"));
  const auto known = coordinator(fmt::format(
      "exec {{paretoctl}} profile --model squeezenet1_0 --input-shape 3x64x64 --num-classes 10 "
      "--devices {} --engine plain --splits percent:50 --store {}",
      path("inventory.yaml"), path("profiles.db")));
  ASSERT_EQ(known->wait(), 0) << known->errors();
  const auto deploy = start_stream("--on-loss failover --store " + path("profiles.db"));
  TextCount without(path("errors"), "without pi-1: ");
  const SteadyTime silenced = clock_now();
  silence(Silencing::kStop);
  ASSERT_TRUE(until(without, 1, silenced)) << errors();
  const auto again = until(answers_, answers_.count() + 5, silenced);
  ASSERT_TRUE(again) << errors();
  heal(Silencing::kStop);
  end_stream(*deploy);
  row.add("answers again after", to_milliseconds(*again), "ms");
  record(row);
}

}  // namespace
}  // namespace pareto::test
