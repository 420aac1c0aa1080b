// Devices that are killed while requests stream through them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>

#include "tests/e2e/fault_fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

using std::chrono::seconds;

class KillFaults : public FaultTest {
 protected:
  static constexpr std::array kNames{"first", "second", "third"};
  static constexpr const char* kSplit = "after:features.3,percent:60";
  /// Cycles of one stream: its results are compared, and removed, at its end.
  static constexpr std::size_t kCyclesAStream = 25;

  void SetUp() override {
    for (const char* name : kNames) start(name);
    make_plan(devices(), kSplit, "tcp+grpc+tcp");
  }
};

TEST_F(KillFaults, AStageMidStreamThatComesBack) {
  FaultRow row{.fault =
                   "a stage's daemon is killed (SIGKILL) mid-stream and started again; "
                   "deploy --on-loss wait",
               .expected =
                   "found ≤ 150 ms; answers again ≤ 5 s after it is back; none lost, "
                   "duplicated, reordered, wrong",
               .cycles = cycles(3, 1000)};
  std::vector<Nanoseconds> found;
  std::vector<Nanoseconds> back;
  Histories histories;
  for (std::size_t cycle = 0; cycle < row.cycles && !HasFailure();) {
    const auto names = requests();
    Process deploy(stream(devices(), "--on-loss wait"));
    ASSERT_TRUE(deploy.wait_for_output("ready: 3 stages")) << deploy.errors();
    for (std::size_t i = 1; i <= kCyclesAStream && cycle < row.cycles; ++i, ++cycle) {
      ASSERT_TRUE(more_answers(10)) << deploy.errors();
      const std::string name = kNames.at(cycle % kNames.size());
      Daemon& victim = daemon(name);
      const TimePoint killed = std::chrono::steady_clock::now();
      victim.process().signal(SIGKILL);
      ASSERT_TRUE(deploy.wait_for_output("the pipeline is lost: ", seconds(60), i))
          << deploy.errors();
      found.push_back(std::chrono::steady_clock::now() - killed);
      start(name);
      const TimePoint started = std::chrono::steady_clock::now();
      ASSERT_TRUE(deploy.wait_for_output("ready again after ", seconds(60), i)) << deploy.errors();
      back.push_back(std::chrono::steady_clock::now() - started);
    }
    ASSERT_TRUE(more_answers(10)) << deploy.errors();
    deploy.signal(SIGINT);
    EXPECT_EQ(deploy.wait(), 0) << deploy.errors();
    histories.add(check_history());
  }
  row.add("found", found);
  row.add("answers again", back);
  histories.add_to(row);
  record(row);
}

TEST_F(KillFaults, AStageMidStreamWhoseWorkOthersTakeOver) {
  FaultRow row{.fault =
                   "a stage's daemon is killed (SIGKILL) mid-stream and stays away; deploy "
                   "--on-loss failover",
               .expected =
                   "another plan answers ≤ 5 s after; none lost, duplicated, reordered, "
                   "wrong",
               .cycles = cycles(2, 30)};
  std::vector<std::string> profile{
      "profile", "--engine",         "plain", "--splits", "percent:30,percent:60",
      "--store", path("profiles.db")};
  const auto where = devices();
  profile.insert(profile.end(), where.begin(), where.end());
  const auto known = paretoctl(with_model(profile));
  ASSERT_EQ(known.exit_code, 0) << known.errors;
  std::vector<Nanoseconds> back;
  Histories histories;
  for (std::size_t cycle = 0; cycle < row.cycles && !HasFailure(); ++cycle) {
    const std::string name = kNames.at(cycle % kNames.size());
    const auto names = requests();
    Process deploy(stream(where, "--on-loss failover --store " + path("profiles.db")));
    ASSERT_TRUE(deploy.wait_for_output("ready: 3 stages")) << deploy.errors();
    ASSERT_TRUE(more_answers(10)) << deploy.errors();
    const TimePoint killed = std::chrono::steady_clock::now();
    daemon(name).process().signal(SIGKILL);
    ASSERT_TRUE(deploy.wait_for_output("without " + name)) << deploy.errors();
    ASSERT_TRUE(deploy.wait_for_output("ready again after ")) << deploy.errors();
    back.push_back(std::chrono::steady_clock::now() - killed);
    ASSERT_TRUE(more_answers(10)) << deploy.errors();
    deploy.signal(SIGINT);
    EXPECT_EQ(deploy.wait(), 0) << deploy.errors();
    histories.add(check_history());
    start(name);
  }
  row.add("answers again", back);
  histories.add_to(row);
  record(row);
}

}  // namespace
}  // namespace pareto::test
