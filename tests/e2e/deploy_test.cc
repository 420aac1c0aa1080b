// Requests of one's own, streamed through a pipeline that stays up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/fixture.h"
#include "tests/support/http.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Deploy : public EndToEnd {
 protected:
  Deploy() {
    std::vector<std::pair<std::string, std::string>> devices;
    for (const char* name : {"first", "second", "third"}) {
      daemons_.push_back(std::make_unique<Daemon>(
          name, folder(), std::vector<std::string>{"--metrics", "127.0.0.1:0"}));
      devices.emplace_back(name, daemons_.back()->address());
    }
    inventory_ = inventory(devices);
    for (int i = 0; i < 4; ++i) {
      write_npy(path("f" + std::to_string(i) + ".npy"), {1, 3, 64, 64}, static_cast<float>(i));
    }
    // A plan of three stages, and what it makes of the first frame.
    const auto done = paretoctl(with_model(
        {"run", "--engine", "plain", "--split", "after:features.3,percent:60", "--transport",
         "tcp+grpc+tcp", "--devices", inventory_, "--save-plan", path("plan.json"), "--input",
         path("f0.npy"), "--output", path("expected.npy")}));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
  }

  static std::vector<std::string> with_model(std::vector<std::string> arguments) {
    const auto model = small_model();
    arguments.insert(arguments.end(), model.begin(), model.end());
    return arguments;
  }
  /// paretoctl deploy in a shell, behind what comes before it, and with what is to follow.
  std::vector<std::string> shell(const std::string& before, const std::string& behind) const {
    std::ostringstream line;
    line << before << PARETO_BIN_DIR << "/paretoctl deploy --plan " << path("plan.json")
         << " --devices " << inventory_;
    return {"/bin/sh", "-c", line.str() + " " + behind};
  }

  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::string inventory_;
};

TEST_F(Deploy, AnswersEveryLineAndFailsBadOnesAlone) {
  write_npy(path("narrow.npy"), {1, 3, 32, 64}, 0);
  std::ofstream(path("text.npy")) << "hello";
  std::string names;
  for (const char* name : {"f0", "narrow", "f1", "text", "absent", "f2", "f0"}) {
    names += path(name) + ".npy\\n";
  }
  const auto done = run(shell("printf '" + names + "' | ", "--json --output " + path("results")));
  EXPECT_EQ(done.exit_code, 4) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("7 requests, 3 failed"));
  std::istringstream lines(done.output);
  std::vector<json> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 7U) << done.output;
  const std::vector<bool> good{true, false, true, false, false, true, true};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].contains("latency_ms"), good[i]) << answers[i];
    EXPECT_EQ(answers[i].contains("error"), !good[i]) << answers[i];
    EXPECT_EQ(answers[i].value("latency_ms", 0.0) > 0, good[i]);
  }
  EXPECT_THAT(answers[1]["error"].get<std::string>(), HasSubstr("does not fit input 0"));
  // Bit for bit what the same plan gave for it, also the second time, under a name of its own.
  EXPECT_EQ(slurp(path("results/f0.npy")), slurp(path("expected.npy")));
  EXPECT_EQ(answers[6]["output"][0], path("results/f0-2.npy"));
  EXPECT_EQ(slurp(path("results/f0-2.npy")), slurp(path("expected.npy")));
  EXPECT_NE(slurp(path("results/f1.npy")), slurp(path("expected.npy")));
}

TEST_F(Deploy, TakesArgumentsAndReplacesNoInput) {
  const auto done =
      run(shell("", path("f1.npy") + " " + path("f2.npy") + " --output " + path("results")));
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output, HasSubstr(path("f2.npy") + "  "));
  EXPECT_THAT(done.output, HasSubstr(" ms  " + path("results/f2.npy")));
  EXPECT_THAT(done.errors, Not(HasSubstr("has batch")));
  const std::string before = slurp(path("f3.npy"));
  const auto refused = run(shell("", path("f3.npy") + " --output " + folder().string()));
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.output, HasSubstr("would replace"));
  EXPECT_EQ(slurp(path("f3.npy")), before);
  // Nor that of another request.
  std::filesystem::create_directory(path("other"));
  std::filesystem::copy_file(path("f3.npy"), path("other/f1.npy"));
  const auto crossed =
      run(shell("", path("f1.npy") + " " + path("other/f1.npy") + " --output " + path("other")));
  EXPECT_EQ(crossed.exit_code, 4);
  EXPECT_THAT(crossed.output, HasSubstr("would replace " + path("other/f1.npy")));
  EXPECT_EQ(slurp(path("other/f1.npy")), before);
}

TEST_F(Deploy, ListsOfFilesThatAreStoppedWereDoneInPart) {
  std::string files;
  for (int i = 0; i < 3000; ++i) files += path("f1.npy") + " ";
  Process process(shell("exec ", files));
  ASSERT_TRUE(process.wait_for_output(" ms\n")) << process.errors();
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 4) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr(" not sent: stopped"));
}

TEST_F(Deploy, TakesAnotherBatchThanThePlansAndSaysOnceWhatDoesNotHoldForIt) {
  write_npy(path("pair.npy"), {2, 3, 64, 64}, 0);
  write_npy(path("three.npy"), {3, 3, 64, 64}, 0);
  const auto done =
      run(shell("", path("f1.npy") + " " + path("pair.npy") + " " + path("three.npy")));
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr(path("pair.npy") + " has batch 2, and the plan 1"));
  EXPECT_THAT(done.errors, Not(HasSubstr("has batch 3")));
}

TEST_F(Deploy, EndsWhenItIsAskedToAndFinishesWhatItTook) {
  ASSERT_EQ(::mkfifo(path("names").c_str(), 0600), 0);
  // Open for reading and writing, it never ends.
  Process process(shell("exec ", "<> " + path("names")));
  ASSERT_TRUE(process.wait_for_output("ready: 3 stages over tcp+grpc+grpc+tcp, window 4"))
      << process.errors();
  std::ofstream(path("names")) << path("f1.npy") << std::endl;
  ASSERT_TRUE(process.wait_for_output(" ms\n")) << process.errors();
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 0) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr("1 requests, 0 failed"));
}

TEST_F(Deploy, DevicesThatWereProfiledShowWhatTheirStagesShouldTake) {
  const std::string store = path("results.db");
  const auto profiled = paretoctl(
      with_model({"profile", "--engine", "plain", "--splits", "after:features.3,percent:60",
                  "--transport", "tcp", "--devices", inventory_, "--store", store}));
  ASSERT_EQ(profiled.exit_code, 0) << profiled.errors;
  ASSERT_EQ(::mkfifo(path("names").c_str(), 0600), 0);
  const auto shown = [&] {
    const std::string metrics = http_get(daemons_[1]->metrics(), "/metrics").body;
    return metrics.find("\npareto_stage_profiled_compute_seconds{") != std::string::npos;
  };
  {
    // Where nothing is kept nobody knows.
    Process process(shell("exec ", "--store " + path("another.db") + " <> " + path("names")));
    ASSERT_TRUE(process.wait_for_output("ready")) << process.errors();
    EXPECT_FALSE(shown());
    EXPECT_FALSE(std::filesystem::exists(path("another.db")));
  }
  Process process(shell("exec ", "--store " + store + " <> " + path("names")));
  ASSERT_TRUE(process.wait_for_output("ready")) << process.errors();
  EXPECT_TRUE(shown());
}

TEST_F(Deploy, ABrokenPipelineIsAnErrorAndNotAnEnd) {
  ASSERT_EQ(::mkfifo(path("names").c_str(), 0600), 0);
  Process process(shell("exec ", "<> " + path("names")));
  ASSERT_TRUE(process.wait_for_output("ready")) << process.errors();
  daemons_[1]->process().signal(SIGKILL);
  daemons_[1]->process().wait();
  std::ofstream(path("names")) << path("f1.npy") << std::endl;
  EXPECT_EQ(process.wait(), 1) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr("request"));
}

}  // namespace
}  // namespace pareto::test
