// A deployment on two devices whose answers are known, for tests of who goes on with it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/e2e/fixture.h"

namespace pareto::test {

class LoggedDeploy : public EndToEnd {
 protected:
  static constexpr int kFrames = 4;

  /// Starts the devices, each by its program, and finds what the plan makes of the requests.
  void set_up(std::size_t devices, int requests, const std::vector<std::string>& program) {
    std::vector<std::pair<std::string, std::string>> listed;
    for (std::size_t i = 0; i < devices; ++i) {
      const std::string name = fmt::format("device-{}", i);
      daemons_.push_back(
          std::make_unique<Daemon>(name, folder(), std::vector<std::string>{}, program));
      listed.emplace_back(name, daemons_.back()->address());
    }
    inventory_ = inventory(listed);
    for (int i = 0; i < kFrames; ++i) {
      write_npy(path(fmt::format("f{}.npy", i)), {1, 3, 64, 64}, static_cast<float>(i));
    }
    requests_ = requests;
    {
      std::ofstream names(path("names.txt"));
      for (int i = 0; i < requests; ++i) names << path(fmt::format("f{}.npy", i % kFrames)) << '\n';
    }
    std::vector<std::string> plan{"run",
                                  "--engine",
                                  "plain",
                                  "--split",
                                  devices == 2 ? "percent:50" : "percent:30,percent:60",
                                  "--transport",
                                  "tcp",
                                  "--devices",
                                  inventory_,
                                  "--save-plan",
                                  path("plan.json"),
                                  "--requests",
                                  "3"};
    for (const std::string& word : small_model()) plan.push_back(word);
    const auto planned = paretoctl(plan);
    ASSERT_EQ(planned.exit_code, 0) << planned.errors;
    const auto quiet = run(deploy("quiet", {}));
    ASSERT_EQ(quiet.exit_code, 0) << quiet.errors;
  }

  /// Returns a deployment that answers all requests, with its log and results called so.
  std::vector<std::string> deploy(const std::string& name, const std::vector<std::string>& more,
                                  const std::string& program = "paretoctl") const {
    std::vector<std::string> arguments{program,     "deploy",   "--plan",     path("plan.json"),
                                       "--devices", inventory_, "--requests", path("names.txt"),
                                       "--output",  path(name), "--log",      log(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string log(const std::string& name) const { return path(name + ".jsonl"); }

  /// Returns the number of lines of a log.
  std::size_t lines(const std::string& name) const {
    const std::string text = pareto::test::slurp(log(name));
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  /// Waits until a log has that many lines. False: it did not come to that.
  bool wait_for_lines(const std::string& name, std::size_t count) const {
    return eventually([&] { return lines(name) >= count; });
  }
  /// Looks again and again until it holds, with a pause in between. False: it did not in a minute.
  template <typename Condition>
  static bool eventually(const Condition& holds,
                         std::chrono::milliseconds pause = std::chrono::milliseconds(5)) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(pause);
    }
    return true;
  }

  /// Expects that every request has one answer in the log, in order, the same as undisturbed.
  /// Returns what the history says.
  nlohmann::json expect_whole(const std::string& name) const {
    const auto checked = paretoctl({"history", log(name), "--expected", log("quiet"), "--json"});
    EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
    auto verdict = nlohmann::json::parse(checked.output, nullptr, false);
    if (!verdict.is_object()) return nlohmann::json::object();
    EXPECT_EQ(verdict["answered"], requests_) << checked.output;
    EXPECT_EQ(verdict["failed"], 0) << checked.output;
    EXPECT_EQ(verdict["compared"], requests_) << checked.output;
    return verdict;
  }

  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::string inventory_;
  int requests_ = 0;
};

}  // namespace pareto::test
