// Faults that `testbed fault` makes on links and devices of a test bed, while requests stream.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/e2e/fault_fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class LinkFaults : public FaultTest {
 protected:
  static constexpr const char* kSplit = "after:features.3";
  /// Time between requests, of which many come while a fault lasts.
  static constexpr std::chrono::milliseconds kPace{10};

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "test beds need root";
    std::ofstream(bed_) << "name: " << name_
                        << "\nemulator: user\ndevices:\n"
                           "  - {name: left, disk: 64MiB}\n  - {name: right}\n";
    const auto up = paretoctl({"testbed", "up", bed_, "--json"});
    for (const char* lack : {"no network namespaces", "no /dev/net/tun", "no control groups",
                             "Read-only file system", "privileged"}) {
      if (up.errors.find(lack) != std::string::npos) GTEST_SKIP() << up.errors;
    }
    ASSERT_EQ(up.exit_code, 0) << up.errors;
  }
  void TearDown() override {
    if (::geteuid() == 0) paretoctl({"testbed", "down", name_});
  }

  std::vector<std::string> where() const { return {"--testbed", name_}; }
  std::string faults(const std::string& entries) const {
    std::ofstream(path("faults.yaml")) << "faults:\n" << entries;
    return path("faults.yaml");
  }
  std::vector<json> make(const std::string& entries) const {
    const auto done = paretoctl({"testbed", "fault", faults(entries), name_, "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    std::vector<json> lines;
    std::istringstream text(done.output);
    for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
    return lines;
  }
  /// Returns the packets that the faults hit, which their ends tell.
  static std::size_t packets_hit(const std::vector<json>& lines) {
    std::size_t hit = 0;
    for (const json& line : lines) {
      const std::string done = line.value("done", "");
      const std::size_t at = done.find("is over, ");
      if (at != std::string::npos) hit += std::stoul(done.substr(at + 9));
    }
    return hit;
  }

  void changed_bytes(const std::string& transport);

  const std::string name_ = "faults-" + std::to_string(::getpid());
  const std::string bed_ = path(name_ + ".yaml");
};

/// Changes bytes of a stream in each way, waits for its loss, and for its return.
void LinkFaults::changed_bytes(const std::string& transport) {
  FaultRow row{.fault = fmt::format("bytes of a link over {} are corrupted, repeated, swapped; its "
                                    "connections are cut in a segment and half closed",
                                    transport),
               .expected = "found and sent again; none lost, duplicated, reordered, wrong",
               .cycles = cycles(1, 50)};
  make_plan(where(), kSplit, transport);
  const auto names = requests(kPace);
  Process deploy(stream(where(), "--on-loss wait"));
  ASSERT_TRUE(deploy.wait_for_output("ready: 2 stages")) << deploy.errors();
  std::size_t hits = 0;
  for (std::size_t cycle = 0; cycle < row.cycles && !HasFailure(); ++cycle) {
    for (const char* kind : {"corrupt", "repeat-bytes", "swap-bytes", "truncate", "half-close"}) {
      const auto lines =
          make(fmt::format("  - {{fault: {}, link: any, direction: {}, packets: {}, for: 300ms}}\n",
                           kind, cycle % 2 == 0 ? "forward" : "backward", 1 + cycle % 4));
      hits += packets_hit(lines);
      // A bit of what HTTP/2 only counts with may change nothing.
      ASSERT_TRUE(more_answers(10)) << kind << deploy.errors();
    }
  }
  // A daemon that a wrong bit ended would be missed.
  const auto alive = paretoctl({"devices", "--testbed", name_});
  EXPECT_EQ(alive.exit_code, 0) << alive.errors;
  deploy.signal(SIGINT);
  EXPECT_EQ(deploy.wait(), 0) << deploy.errors();
  Histories histories;
  histories.add(check_history());
  EXPECT_GE(hits, 3 * row.cycles) << "the stream uses the link";
  const std::size_t losses = count_of("the pipeline is lost: ", deploy.errors());
  EXPECT_GE(losses, 2 * row.cycles) << deploy.errors();
  row.add("segments changed", hits);
  row.add("losses of the pipeline", losses);
  histories.add_to(row);
  record(row);
}

TEST_F(LinkFaults, ChangedBytesOverTcpAreFoundAndSentAgain) { changed_bytes("tcp"); }

TEST_F(LinkFaults, ChangedBytesOverGrpcAreFoundAndSentAgain) { changed_bytes("grpc"); }

TEST_F(LinkFaults, PacketsThatAreLostLateDoubledAndOvertakenChangeNothing) {
  FaultRow row{.fault = "packets of a link are lost, come late, twice, and before others",
               .expected = "no loss of the pipeline; none lost, duplicated, reordered, wrong",
               .cycles = cycles(1, 30)};
  make_plan(where(), kSplit, "tcp");
  const auto names = requests();
  Process deploy(stream(where(), "--on-loss wait"));
  ASSERT_TRUE(deploy.wait_for_output("ready: 2 stages")) << deploy.errors();
  std::size_t hits = 0;
  for (std::size_t cycle = 0; cycle < row.cycles; ++cycle) {
    hits +=
        packets_hit(make("  - {fault: drop, link: any, share: 1%, for: 1s}\n"
                         "  - {fault: delay, link: any, share: 5%, delay: 3ms, for: 1s}\n"
                         "  - {fault: duplicate, link: any, share: 5%, for: 1s}\n"
                         "  - {fault: reorder, link: any, share: 5%, for: 1s}\n"));
  }
  deploy.signal(SIGINT);
  EXPECT_EQ(deploy.wait(), 0) << deploy.errors();
  EXPECT_THAT(deploy.errors(), ::testing::Not(HasSubstr("the pipeline is lost")));
  EXPECT_GT(hits, 10U);
  Histories histories;
  histories.add(check_history());
  row.add("packets hit", hits);
  histories.add_to(row);
  record(row);
}

TEST_F(LinkFaults, ADeviceThatIsKilledIsStartedAgainAsItWas) {
  make_plan(where(), kSplit, "tcp");
  const auto names = requests();
  Process deploy(stream(where(), "--on-loss wait"));
  ASSERT_TRUE(deploy.wait_for_output("ready: 2 stages")) << deploy.errors();
  const auto lines = make("  - {fault: kill, device: right, for: 200ms}\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1]["done"].get<std::string>(), HasSubstr("started, ready after"));
  ASSERT_TRUE(deploy.wait_for_output("ready again after ")) << deploy.errors();
  deploy.signal(SIGINT);
  EXPECT_EQ(deploy.wait(), 0) << deploy.errors();
  check_history();
  // Its process is another, and the next command finds it.
  const auto devices = paretoctl({"devices", "--testbed", name_, "--json"});
  EXPECT_EQ(devices.exit_code, 0) << devices.errors;
  EXPECT_THAT(devices.output, HasSubstr("right"));
}

TEST_F(LinkFaults, WhatLastsIsUndoneWhenTheCommandIsStoppedOrKilled) {
  const std::string file = faults(
      "  - {fault: stop, device: right, for: 1h}\n"
      "  - {fault: kill, device: left, at: 10ms}\n"
      "  - {fault: drop, link: left - right, at: 20ms, for: 1h}\n"
      "  - {fault: restart, device: right, at: 1h}\n");
  for (const int signal : {SIGINT, SIGKILL}) {
    Process process({"paretoctl", "testbed", "fault", file, name_});
    ASSERT_TRUE(process.wait_for_output("drop both ways")) << process.errors();
    // One at a time.
    const auto second = paretoctl({"testbed", "fault", file, name_});
    EXPECT_EQ(second.exit_code, 3) << second.errors;
    EXPECT_THAT(second.errors, HasSubstr("another `testbed fault`"));
    process.signal(signal);
    EXPECT_EQ(process.wait(), signal == SIGINT ? 4 : 128 + SIGKILL) << process.errors();
    if (signal == SIGINT) {
      EXPECT_THAT(process.errors(), HasSubstr("goes on"));
    } else {
      // The process that holds the test bed undoes it, and takes others then.
      make("  - {fault: restart, device: left}\n");
    }
    const auto run = paretoctl(with_model(
        {"run", "--split", kSplit, "--transport", "tcp", "--testbed", name_, "--requests", "2"}));
    EXPECT_EQ(run.exit_code, 0) << run.errors;
  }
}

TEST_F(LinkFaults, PlansThatDoNotFitAreRefused) {
  const auto refused = [&](const std::string& entries) {
    const auto done = paretoctl({"testbed", "fault", faults(entries), name_});
    return fmt::format("{} {}", done.exit_code, done.errors);
  };
  EXPECT_THAT(refused("  - {fault: kill, device: lef}\n"), HasSubstr("did you mean left"));
  EXPECT_THAT(refused("  - {fault: disk-full, device: right, for: 1ms}\n"),
              ::testing::AllOf(HasSubstr("4 "), HasSubstr("disk: 256MiB")));
  EXPECT_THAT(refused("  - {fault: kill, device: left, for: 200ms}\n"
                      "  - {fault: stop, device: left, at: 10ms, for: 10ms}\n"
                      "  - {fault: restart, device: left, at: 20ms}\n"),
              ::testing::AllOf(HasSubstr("4 "), HasSubstr("not done: left is down, not stopped"),
                               HasSubstr("not done: left is down, and stays so")));
  const auto none = paretoctl({"testbed", "fault", path("faults.yaml"), "no-such-bed"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors, HasSubstr("testbed up"));
}

}  // namespace
}  // namespace pareto::test
