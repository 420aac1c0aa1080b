// Disks that are full, or may not be written: each call that writes fails once.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/e2e/failing_writes.h"
#include "tests/e2e/fault_fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

class DiskFaults : public FaultTest {
 protected:
  std::size_t runs_in(const std::string& store) const {
    const auto listed = paretoctl({"runs", "--store", store, "--json"});
    EXPECT_EQ(listed.exit_code, 0) << listed.errors;
    std::size_t complete = 0;
    for (const json& one : json::parse(listed.output))
      complete += one["finished"].is_null() ? 0 : 1;
    return complete;
  }

  FailingWrites writes_{path("writes")};
};

TEST_F(DiskFaults, OfTheResultsStoreLoseNoEarlierRun) {
  FaultRow row{.fault =
                   "the disk of the results store is full, or may not be written, at one "
                   "call of a sweep that writes",
               .expected =
                   "the sweep says so and names the file, or all is stored; earlier runs "
                   "are there; the next sweep is stored"};
  start("first");
  start("second");
  fs::create_directory(path("before"));
  const auto sweep = [&](const std::string& folder) {
    std::vector<std::string> arguments{
        "sweep", "--store",  path(folder + "/results.db"), "--rounds",    "1",   "--requests",
        "4",     "--splits", "after:features.3",           "--transport", "tcp", "--report",
        "none"};
    const auto where = devices();
    arguments.insert(arguments.end(), where.begin(), where.end());
    return with_model(arguments);
  };
  const auto first = paretoctl(sweep("before"));
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  fs::copy(path("before"), path("store"), fs::copy_options::recursive);
  const auto counted = paretoctl_with(writes_.variables(path("store"), 0), sweep("store"));
  ASSERT_EQ(counted.exit_code, 0) << counted.errors;
  const std::size_t calls = writes_.count();
  ASSERT_GT(calls, 20U);
  std::size_t failed = 0;
  row.cycles = 0;
  for (const std::string error : {"ENOSPC", "EROFS"}) {
    // Where it may not be written matters less: a quarter of the calls.
    const bool is_full = error == "ENOSPC";
    for (const std::size_t call :
         chosen_calls(calls, is_full ? 3 : 1, is_full ? calls : calls / 4)) {
      fs::remove_all(path("store"));
      fs::copy(path("before"), path("store"), fs::copy_options::recursive);
      const auto done =
          paretoctl_with(writes_.variables(path("store"), call, error), sweep("store"));
      const std::string what = fmt::format("{} at {}: exit {}, {}", error, writes_.line(call),
                                           done.exit_code, done.errors);
      EXPECT_THAT(done.exit_code, AnyOf(0, 1, 3, 4)) << what;
      // Only while the store is opened does the environment refuse.
      if (done.exit_code == 3) {
        EXPECT_THAT(writes_.line(call), HasSubstr("open")) << what;
      }
      if (done.exit_code != 0) {
        ++failed;
        EXPECT_THAT(done.errors, says_why_not_written()) << what;
        EXPECT_THAT(done.errors, HasSubstr(path("store"))) << what;
      }
      EXPECT_EQ(runs_in(path("store/results.db")), done.exit_code == 0 ? 2U : 1U) << what;
      // Some stand for all.
      if (row.cycles % 5 == 0) {
        const auto next = paretoctl(sweep("store"));
        EXPECT_EQ(next.exit_code, 0) << what << next.errors;
      }
      ++row.cycles;
    }
  }
  EXPECT_GT(failed, 0U);
  row.add("calls that write", calls);
  row.add("sweeps that failed", failed);
  record(row);
}

TEST_F(DiskFaults, OfResultsFailTheRequestAlone) {
  FaultRow row{.fault = "the disk of a stream's results is full at one call that writes",
               .expected = "that request fails and says why; all others are answered"};
  start("first");
  start("second");
  make_plan(devices(), "after:features.3", "tcp");
  std::vector<std::string> arguments{"deploy", "--plan",   path("plan.json"),
                                     "--json", "--output", path("results")};
  for (const auto& more : {devices(), files()}) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  }
  const auto counted = paretoctl_with(writes_.variables(path("results"), 0), arguments);
  ASSERT_EQ(counted.exit_code, 0) << counted.errors;
  const std::size_t calls = writes_.count();
  ASSERT_GE(calls, 8U);
  row.cycles = 0;
  for (const std::size_t call : chosen_calls(calls, 3)) {
    fs::remove_all(path("results"));
    const auto done = paretoctl_with(writes_.variables(path("results"), call), arguments);
    const std::string what = fmt::format("{}: exit {}, {}{}", writes_.line(call), done.exit_code,
                                         done.output, done.errors);
    EXPECT_THAT(done.exit_code, AnyOf(1, 3, 4)) << what;
    EXPECT_THAT(done.output + done.errors, HasSubstr("No space left on device")) << what;
    // No file is there in part.
    for (const auto& file :
         fs::directory_iterator(fs::exists(path("results")) ? path("results") : path("right"))) {
      EXPECT_EQ(slurp(file.path()), slurp(path("right/" + file.path().filename().string())))
          << what;
    }
    ++row.cycles;
  }
  row.add("calls that write", calls);
  record(row);
}

TEST_F(DiskFaults, OfADevicesStoreAreSaidToTheCoordinator) {
  FaultRow row{.fault = "the disk of a device's tensor store is full at one call that writes",
               .expected =
                   "the coordinator says so, or older weights make room; the daemon lives, "
                   "and the next run is right"};
  start("first");
  const auto run_on = [&](const Daemon& daemon, const std::string& output) {
    return run_model(
        {"--model", "squeezenet1_0", "--split", "after:features.3", "--engine", "plain",
         "--transport", "tcp", "--devices",
         inventory({{"second", daemon.address()}, {"first", this->daemon("first").address()}})},
        output);
  };
  const auto serving = [&](std::size_t call) {
    fs::remove_all(path("second"));
    std::vector<std::string> program{"/usr/bin/env"};
    const auto variables = writes_.variables(path("second"), call);
    program.insert(program.end(), variables.begin(), variables.end());
    program.push_back(test::programs_folder() + "/paretod");
    return std::make_unique<Daemon>("second", folder(), std::vector<std::string>{}, program);
  };
  std::size_t before = 0;
  {
    const auto daemon = serving(0);
    before = writes_.count();
    const auto done = run_on(*daemon, "expected.npy");
    ASSERT_EQ(done.exit_code, 0) << done.errors;
  }
  const std::size_t calls = writes_.count() - before;
  ASSERT_GT(calls, 20U);
  std::size_t said = 0;
  row.cycles = 0;
  for (const std::size_t call : chosen_calls(calls, 3)) {
    const auto daemon = serving(before + call);
    const auto done = run_on(*daemon, "output.npy");
    const std::string what =
        fmt::format("{}: exit {}, {}", writes_.line(before + call), done.exit_code, done.errors);
    EXPECT_THAT(done.exit_code, AnyOf(0, 1, 3)) << what;
    if (done.exit_code != 0) {
      ++said;
      EXPECT_THAT(done.errors, says_why_not_written()) << what;
      EXPECT_THAT(done.errors, HasSubstr("second")) << what;
    }
    const auto next = run_on(*daemon, "next.npy");
    EXPECT_EQ(next.exit_code, 0) << what << next.errors;
    EXPECT_EQ(slurp(path("next.npy")), slurp(path("expected.npy"))) << what;
    ++row.cycles;
  }
  EXPECT_GT(said, 0U);
  row.add("calls that write", calls);
  row.add("runs that failed", said);
  record(row);
}

TEST_F(DiskFaults, AStoredTensorThatChangedIsFetchedAgain) {
  FaultRow row{.fault = "a byte of a stored tensor changes while its daemon is down",
               .expected = "found when it is used, sent again, and the outputs are right",
               .cycles = cycles(2, 30)};
  start("first");
  start("second");
  const auto run_once = [&](const std::string& output) {
    const auto done = run_model({"--model", "squeezenet1_0", "--split", "after:features.3",
                                 "--engine", "plain", "--devices", devices()[1]},
                                output);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return slurp(path(output));
  };
  const std::string expected = run_once("expected.npy");
  std::size_t found = 0;
  for (std::size_t cycle = 0; cycle < row.cycles; ++cycle) {
    daemon("first").process().signal(SIGKILL);
    daemon("first").process().wait();
    std::vector<fs::path> tensors;
    for (const auto& file : fs::recursive_directory_iterator(path("first") + "/objects")) {
      if (file.is_regular_file()) tensors.push_back(file.path());
    }
    ASSERT_FALSE(tensors.empty());
    std::ranges::sort(tensors);
    const fs::path& victim = tensors[cycle % tensors.size()];
    std::string bytes = slurp(victim);
    // Behind the header, whose own damage is another matter.
    bytes[bytes.size() - 1 - cycle % 4] ^= 0x10;
    fs::permissions(victim, fs::perms::owner_write, fs::perm_options::add);
    std::ofstream(victim, std::ios::binary) << bytes;
    start("first");
    EXPECT_EQ(run_once("output.npy"), expected) << victim;
    found += count_of("its bytes changed", daemon("first").process().errors());
  }
  EXPECT_EQ(found, row.cycles);
  row.add("found", found);
  record(row);
}

}  // namespace
}  // namespace pareto::test
