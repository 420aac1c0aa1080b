// Programs of this version and of the last release work together. PARETO_LAST_RELEASE names the
// folder of the release, with bin/paretod and bin/paretoctl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "tests/e2e/standby_fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

class UpgradeFaults : public LoggedDeploy {
 protected:
  UpgradeFaults() {
    const char* const folder = std::getenv("PARETO_LAST_RELEASE");
    if (folder != nullptr) release_ = std::string(folder) + "/bin/";
  }
  void SetUp() override {
    if (release_.empty()) GTEST_SKIP() << "PARETO_LAST_RELEASE names no folder";
  }
  std::string old(const std::string& program) const { return release_ + program; }

  std::string release_;
};

TEST_F(UpgradeFaults, ThreeDevicesOneByOneUnderLoad) {
  FaultRow row{.fault = "rolling upgrade of three daemons under load, from the last release",
               .expected = "0 lost, 0 doubled, 0 wrong",
               .cycles = cycles(1, 20)};
  std::uint64_t faults = 0;
  std::vector<Nanoseconds> back;
  for (std::size_t i = 0; i < row.cycles; ++i) {
    daemons_.clear();
    ASSERT_NO_FATAL_FAILURE(set_up(3, 100, {old("paretod")}));
    const std::string name = fmt::format("upgrade-{}", i);
    Process deployed(deploy(name, {"--growing", "--on-loss", "wait"}));
    ASSERT_TRUE(wait_for_lines(name, 20)) << deployed.errors();
    std::ofstream names(path("names.txt"), std::ios::app);
    const auto ask = [&](int count) {
      for (int n = 0; n < count; ++n) {
        names << path(fmt::format("f{}.npy", requests_++ % kFrames)) << '\n';
      }
      names.flush();
    };
    for (std::size_t device = 0; device < daemons_.size(); ++device) {
      ask(200);
      const std::string address = daemons_[device]->address();
      daemons_[device]->process().signal(SIGTERM);
      daemons_[device]->process().wait();
      const TimePoint gone = std::chrono::steady_clock::now();
      const std::size_t answers = lines(name);
      daemons_[device] = std::make_unique<Daemon>(fmt::format("device-{}", device), folder(),
                                                  std::vector<std::string>{"--listen", address});
      ASSERT_TRUE(wait_for_lines(name, answers + 10)) << deployed.errors();
      back.push_back(std::chrono::steady_clock::now() - gone);
    }
    names << "." << std::endl;
    EXPECT_EQ(deployed.wait(), 0) << deployed.errors();
    // What is right of the further requests is known by their names.
    if (!expect_whole(name).value("holds", false)) ++faults;
    if (HasFailure()) return;
  }
  row.add("answers again after", back);
  row.add("histories with a fault", faults);
  record(row);
}

TEST_F(UpgradeFaults, TheCoordinatorOfTheLastReleaseWorksWithTheseDaemons) {
  ASSERT_NO_FATAL_FAILURE(set_up(2, 4, {"paretod"}));
  const auto done =
      run({old("paretoctl"), "run", "--plan", path("plan.json"), "--devices", inventory_,
           "--requests", "3", "--input", path("f0.npy"), "--output", path("old.npy")});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_EQ(pareto::test::slurp(path("old.npy")), pareto::test::slurp(path("quiet/f0.npy")));
}

TEST_F(UpgradeFaults, DaemonsOfBothVersionsShareAPipeline) {
  daemons_.clear();
  ASSERT_NO_FATAL_FAILURE(set_up(2, 4, {"paretod"}));
  for (const std::size_t older : {0U, 1U}) {
    const std::string address = daemons_[older]->address();
    daemons_[older]->process().signal(SIGTERM);
    daemons_[older]->process().wait();
    daemons_[older] = std::make_unique<Daemon>(fmt::format("device-{}", older), folder(),
                                               std::vector<std::string>{"--listen", address},
                                               std::vector<std::string>{old("paretod")});
    const std::string name = fmt::format("mixed-{}", older);
    const auto done = run(deploy(name, {}));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    expect_whole(name);
    daemons_[older]->process().signal(SIGTERM);
    daemons_[older]->process().wait();
    daemons_[older] = std::make_unique<Daemon>(fmt::format("device-{}", older), folder(),
                                               std::vector<std::string>{"--listen", address});
  }
}

}  // namespace
}  // namespace pareto::test
