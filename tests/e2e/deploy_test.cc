// Requests of one's own, streamed through a pipeline that stays up.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
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
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class Deploy : public EndToEnd {
 protected:
  static constexpr std::array kNames{"first", "second", "third"};

  Deploy() {
    std::vector<std::pair<std::string, std::string>> devices;
    for (const char* name : kNames) {
      daemons_.push_back(std::make_unique<Daemon>(
          name, folder(), std::vector<std::string>{"--metrics", "127.0.0.1:0"}));
      devices.emplace_back(name, daemons_.back()->address());
      names_.push_back(
          fmt::format("stage {} on {} ({}): ", names_.size(), name, daemons_.back()->address()));
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
    line << before << test::programs_folder() << "/paretoctl deploy --plan " << path("plan.json")
         << " --devices " << inventory_;
    return {"/bin/sh", "-c", line.str() + " " + behind};
  }

  /// Returns a fifo that requests are written to, open for reading and writing: it never ends.
  std::string names() const {
    EXPECT_EQ(::mkfifo(path("names").c_str(), 0600), 0);
    return "<> " + path("names");
  }
  void request(const std::string& name) const {
    std::ofstream(path("names")) << path(name) << std::endl;
  }
  /// Ends a daemon by that signal, or only stops it for a while (SIGSTOP).
  void end(std::size_t device, int signal) const {
    daemons_[device]->process().signal(signal);
    if (signal != SIGSTOP) daemons_[device]->process().wait();
  }
  /// One that was ended, again, where its coordinator finds it.
  void start_again(std::size_t device, const std::vector<std::string>& flags = {}) {
    std::vector<std::string> all{"--listen", daemons_[device]->address()};
    all.insert(all.end(), flags.begin(), flags.end());
    daemons_[device] = std::make_unique<Daemon>(kNames[device], folder(), all);
  }
  static std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }

  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::vector<std::string> names_;  ///< names of the stages, as errors begin
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
  EXPECT_THAT(process.errors(), HasSubstr(" not sent; "));
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
  EXPECT_THAT(process.errors(), HasSubstr("1 request, 0 failed"));
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

TEST_F(Deploy, WhateverDeviceIsKilledIsNamedAndEveryRequestIsAccountedFor) {
  std::string files;
  for (int i = 0; i < 3000; ++i) files += path("f1.npy") + " ";
  for (std::size_t device = 0; device < kNames.size(); ++device) {
    Process process(shell("exec ", "--retry none " + files));
    ASSERT_TRUE(process.wait_for_output(" ms\n")) << process.errors();
    end(device, SIGKILL);
    EXPECT_EQ(process.wait(), 4) << process.errors();
    EXPECT_THAT(process.errors(), HasSubstr("paretoctl: " + names_[device]));
    EXPECT_THAT(process.errors(), HasSubstr("3000 requests, "));
    EXPECT_THAT(process.errors(), HasSubstr(" not sent; "));
    EXPECT_EQ(lines_of(process.output()), 3000U) << process.errors();
    EXPECT_THAT(process.output(), HasSubstr("  failed: " + names_[device]));
    EXPECT_THAT(process.output(), HasSubstr("  not sent: " + names_[device]));
    EXPECT_THAT(process.output(), HasSubstr("  not sent: as above\n")) << "its reason once";
    start_again(device);
  }
}

TEST_F(Deploy, AnIdlePipelineThatIsLostIsNoticedAndNamed) {
  Process process(shell("exec ", "--retry none " + names()));
  ASSERT_TRUE(process.wait_for_output("ready")) << process.errors();
  end(1, SIGKILL);
  // Nothing was asked of it: nothing is undone, but it was not to end.
  EXPECT_EQ(process.wait(), 1) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr("paretoctl: " + names_[1]));
}

TEST_F(Deploy, ADeviceThatHangsIsNamed) {
  Process process(shell("exec ", "--retry none " + names()));
  ASSERT_TRUE(process.wait_for_output("ready")) << process.errors();
  end(1, SIGSTOP);
  request("f1.npy");
  EXPECT_EQ(process.wait(), 4) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr("paretoctl: " + names_[1]));
  // Its neighbour on a link may be the first to notice.
  EXPECT_THAT(process.errors(), testing::AnyOf(HasSubstr(names_[1] + "no answer within"),
                                               HasSubstr("sees no sign of life of it")));
  EXPECT_THAT(process.output(), HasSubstr("f1.npy  failed: " + names_[1]));
}

TEST_F(Deploy, WhoWantsToStopIsAnsweredAlthoughADeviceHangs) {
  Process process(shell("exec ", names()));
  ASSERT_TRUE(process.wait_for_output("ready")) << process.errors();
  end(2, SIGSTOP);
  request("f1.npy");
  process.signal(SIGINT);
  ASSERT_TRUE(process.wait_for_output("stopping after the requests in flight; again to leave now"));
  const int exit_code = process.wait();
  if (exit_code == 0) {
    // The signal came before the request was taken, and the end before the device was missed.
    EXPECT_THAT(process.errors(), HasSubstr("0 requests, 0 failed"));
    return;
  }
  // Four if the request was taken, one if it was not.
  EXPECT_THAT(exit_code, AnyOf(4, 1)) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr(names_[2] + "no answer within"));
}

TEST_F(Deploy, ADeviceThatIsBackGetsTheRequestsThatWereNotAnswered) {
  Process process(shell("exec ", "--output " + path("results") + " " + names()));
  ASSERT_TRUE(process.wait_for_output("ready")) << process.errors();
  request("f0.npy");
  ASSERT_TRUE(process.wait_for_output("results/f0.npy\n")) << process.errors();
  for (std::size_t device = 0; device < kNames.size(); ++device) {
    end(device, SIGKILL);
    request("f0.npy");
    ASSERT_TRUE(process.wait_for_output("the pipeline is lost: " + names_[device]))
        << process.errors();
    start_again(device);
    const std::string result = fmt::format("results/f0-{}.npy", device + 2);
    ASSERT_TRUE(process.wait_for_output(result + "\n")) << process.errors();
    EXPECT_EQ(slurp(path(result)), slurp(path("expected.npy")));
  }
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 0) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr("ready again after "));
  EXPECT_THAT(process.errors(), HasSubstr("4 requests, 0 failed; "));
}

TEST_F(Deploy, AStreamGoesOnWhenADaemonWasEndedInOrderAndIsBack) {
  std::string files;
  for (int i = 0; i < 3000; ++i) files += path("f1.npy") + " ";
  Process process(shell("exec ", files));
  ASSERT_TRUE(process.wait_for_output(" ms\n")) << process.errors();
  end(1, SIGTERM);
  ASSERT_TRUE(process.wait_for_output("the pipeline is lost: " + names_[1])) << process.errors();
  start_again(1);
  ASSERT_TRUE(process.wait_for_output("ready again after ")) << process.errors();
  // What is left of the list would take a slow machine minutes.
  process.signal(SIGINT);
  EXPECT_THAT(process.wait(), AnyOf(0, 4)) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr("3000 requests, 0 failed"));
  EXPECT_EQ(lines_of(process.output()), 3000U);
}

TEST_F(Deploy, ARequestThatIsTooLargeForADeviceFailsAloneAndSaysWhose) {
  write_npy(path("large.npy"), {32, 3, 64, 64}, 0);
  const std::string files =
      path("f0.npy") + " " + path("large.npy") + " " + path("f1.npy") + " --json";
  for (const std::size_t device : {0U, 1U}) {
    end(device, SIGTERM);
    start_again(device, {"--max-frame", "1MiB"});
    const auto done = run(shell("", files));
    EXPECT_EQ(done.exit_code, 4) << done.errors;
    EXPECT_THAT(done.errors, HasSubstr("3 requests, 1 failed; "));
    EXPECT_THAT(done.output, HasSubstr("stage 0 on first: "));
    EXPECT_THAT(done.output, HasSubstr("receiver takes 1048576 bytes at most"));
    EXPECT_EQ(lines_of(done.output), 3U);
    end(device, SIGTERM);
    start_again(device);
  }
}

TEST_F(Deploy, ClosedDescriptorsAndPipesWithoutAReaderEndIt) {
  const auto no_input = run(shell("", "<&-"));
  EXPECT_EQ(no_input.exit_code, 0) << no_input.errors;
  EXPECT_THAT(no_input.errors, HasSubstr("0 requests, 0 failed"));
  const auto no_output = run(shell("", path("f1.npy") + " >&-"));
  EXPECT_EQ(no_output.exit_code, 1) << no_output.errors;
  EXPECT_THAT(no_output.errors, HasSubstr("not all of the output could be written"));
  // Who ignores SIGPIPE has to look: `yes` has no end by itself.
  const auto left =
      run(shell("trap '' PIPE; (trap - PIPE; exec yes " + path("f1.npy") + ") | ", "| head -n 2"));
  EXPECT_EQ(left.exit_code, 0);
  EXPECT_EQ(lines_of(left.output), 2U);
  EXPECT_THAT(left.errors, HasSubstr("not all of the output could be written"));
}

TEST_F(Deploy, ItsMetricsSayWhatBecameOfRequests) {
  Process process(shell("exec ", "--metrics 127.0.0.1:0 " + names()));
  ASSERT_TRUE(process.wait_for_output("ready")) << process.errors();
  request("f1.npy");
  request("absent.npy");
  ASSERT_TRUE(process.wait_for_output("absent.npy  failed: ")) << process.errors();
  const std::string at = "metrics at http://";
  const std::string errors = process.errors();
  const std::size_t begin = errors.find(at) + at.size();
  ASSERT_LT(begin, errors.size()) << errors;
  const std::string address = errors.substr(begin, errors.find('/', begin) - begin);
  const auto shown = [&] { return http_get(address, "/metrics").body; };
  EXPECT_THAT(shown(), AllOf(HasSubstr("pareto_deploy_up 1\n"),
                             HasSubstr("pareto_deploy_requests_total{outcome=\"ok\"} 1\n"),
                             HasSubstr("pareto_deploy_requests_total{outcome=\"failed\"} 1\n"),
                             HasSubstr("pareto_deploy_latency_seconds_count 1\n"),
                             HasSubstr(",model=\"squeezenet1_0\",")));
  end(1, SIGKILL);
  ASSERT_TRUE(process.wait_for_output("the pipeline is lost")) << process.errors();
  EXPECT_THAT(shown(), AllOf(HasSubstr("pareto_deploy_up 0\n"),
                             HasSubstr("pareto_deploy_pipelines_lost_total 1\n")));
}

TEST_F(Deploy, GoesOnWithTheDevicesThatAreLeft) {
  const auto missing =
      run(shell("", "--on-loss failover --store " + path("none.db") + " " + path("f0.npy")));
  EXPECT_EQ(missing.exit_code, 2) << missing.errors;
  const auto known =
      paretoctl(with_model({"profile", "--devices", inventory_, "--engine", "plain", "--splits",
                            "percent:30,percent:60", "--store", path("profiles.db")}));
  ASSERT_EQ(known.exit_code, 0) << known.errors;
  auto command = shell("exec ", "--json --on-loss failover --store " + path("profiles.db") +
                                    " --output " + path("results") + " " + names());
  Process deploy(command);
  ASSERT_TRUE(deploy.wait_for_output("ready: 3 stages", std::chrono::minutes(1)))
      << deploy.errors();
  request("f0.npy");
  ASSERT_TRUE(deploy.wait_for_output("f0.npy", std::chrono::seconds(30))) << deploy.errors();
  // One after the other, down to the last.
  for (const std::size_t device : {1, 0}) {
    end(device, SIGKILL);
    request("f0.npy");
    const std::string left = device == 1 ? "without second: " : "without first, second: 1 stage";
    ASSERT_TRUE(deploy.wait_for_output(left, std::chrono::minutes(1))) << deploy.errors();
  }
  ASSERT_TRUE(deploy.wait_for_output("f0-3.npy", std::chrono::minutes(1))) << deploy.errors();
  deploy.signal(SIGINT);
  deploy.wait();
  for (const char* result : {"results/f0.npy", "results/f0-2.npy", "results/f0-3.npy"}) {
    EXPECT_EQ(slurp(path(result)), slurp(path("expected.npy"))) << result;
  }
  EXPECT_THAT(deploy.errors(), HasSubstr("3 requests, 0 failed"));
}

}  // namespace
}  // namespace pareto::test
