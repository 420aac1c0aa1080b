// paretoctl inside the test: its arguments in, exit code and words out. No daemon can be started.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <string>
#include <vector>

#include "client/program.h"
#include "coordinator/results/store.h"
#include "core/base/file.h"
#include "tests/support/synthetic_run.h"

namespace pareto::client {

class NeverStopped final : public StopSignal {
 public:
  const std::atomic<bool>& watch() override { return stop_; }

 private:
  std::atomic<bool> stop_{false};
};

struct Done {
  int code = -1;
  std::string out;
  std::string err;
};

class Program : public testing::Test {
 protected:
  Program() : folder_(TemporaryFolder::create("program").value()) {}

  /// Runs the program. What it keeps is in this test's folder.
  Done run(const std::vector<std::string>& arguments) const {
    NeverStopped stop;
    return run(arguments, stop);
  }
  Done run(const std::vector<std::string>& arguments, StopSignal& stop) const {
    std::ostringstream out;
    std::ostringstream err;
    const int code = run(arguments, stop, out, err);
    return {code, out.str(), err.str()};
  }
  int run(const std::vector<std::string>& arguments, StopSignal& stop, std::ostream& out,
          std::ostream& err) const {
    Context context{.out = out,
                    .err = err,
                    .command_line = quoted_command_line(arguments),
                    .paretod = path("no-paretod"),
                    .default_store = path("results.db"),
                    .devices = devices_,
                    .stop = stop};
    return run_program(arguments, context);
  }

  /// Refused with this exit code, nothing on stdout, and one error that says why and names what is
  /// meant.
  void refused(const std::vector<std::string>& arguments, int code,
               const testing::Matcher<std::string>& sentence) const {
    const Done done = run(arguments);
    EXPECT_EQ(done.code, code) << done.err;
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, testing::AllOf(testing::StartsWith("paretoctl: "), sentence));
    EXPECT_EQ(done.err.rfind("paretoctl: "), 0U) << "more than once: " << done.err;
    EXPECT_TRUE(done.err.ends_with('\n'));
  }

  static std::vector<std::string> small(const std::string& command,
                                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{
        command, "--model", "squeezenet1_0", "--input-shape", "3x64x64", "--num-classes", "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// Put where the program looks for runs.
  results::RunRecord stored(results::RunRecord run) const {
    const auto store = results::ResultStore::open(path("results.db")).value();
    EXPECT_TRUE(store->begin_run(run));
    for (const results::TrialRecord& trial : run.trials) EXPECT_TRUE(store->put_trial(run, trial));
    EXPECT_TRUE(store->update_run(run));
    return run;
  }
  results::RunRecord stored_run(const test::SyntheticOptions& options = {}) const {
    return stored(test::synthetic_run(options));
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
  std::string devices_;  ///< devices of the environment
};

}  // namespace pareto::client
