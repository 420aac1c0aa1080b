// `deploy --follow` on a test bed whose link changes its rate.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/e2e/fixture.h"
#include "tests/support/fault_figures.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Two devices that compute at a steady pace, and a link whose rate the test sets.
class FollowFaults : public EndToEnd {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "test beds need root";
    ::setenv("XDG_RUNTIME_DIR", folder().c_str(), 1);
    std::ofstream(bed_) << "name: " << name_
                        << "\ndevices:\n"
                           "  - {name: left, speed: 0.5, steady: left.times}\n"
                           "  - {name: right, speed: 0.5, steady: right.times}\n";
    const auto up = paretoctl({"testbed", "up", bed_, "--json"});
    for (const char* lack : {"no network namespaces", "no /dev/net/tun", "no control groups",
                             "Read-only file system"}) {
      if (up.errors.find(lack) != std::string::npos) GTEST_SKIP() << up.errors;
    }
    ASSERT_EQ(up.exit_code, 0) << up.errors;
    const json bed = json::parse(up.output);
    for (const json& device : bed["devices"]) places_.push_back(device["namespace"]);
    ASSERT_EQ(places_.size(), 2U) << up.output;
  }
  void TearDown() override {
    if (::geteuid() == 0) paretoctl({"testbed", "down", name_});
  }

  /// Sets the rate of the link between both devices, both ways.
  void set_rate(const std::string& rate) const {
    for (const std::string& place : places_) {
      // The device's end of its link (netem/testbed_network.h).
      const auto done =
          run({"/usr/bin/nsenter", "--net=" + place, "tc", "qdisc", "replace", "dev", "pareto0",
               "root", "tbf", "rate", rate, "burst", "16kb", "latency", "500ms"});
      ASSERT_EQ(done.exit_code, 0) << done.errors;
    }
  }
  static std::vector<std::string> of_model(std::vector<std::string> arguments) {
    for (const char* one : {"--model", "squeezenet1_0", "--num-classes", "10"}) {
      arguments.emplace_back(one);
    }
    return arguments;
  }
  std::size_t answers() const {
    const std::string log = slurp(path("log.jsonl"));
    return static_cast<std::size_t>(std::ranges::count(log, '\n'));
  }
  /// Returns how long `count` more answers take, in seconds a request.
  double period(std::size_t count) const {
    const std::size_t first = answers() + 1;
    const auto wait_for = [&](std::size_t number) {
      const TimePoint limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
      while (answers() < number && std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      return std::chrono::steady_clock::now();
    };
    const TimePoint begin = wait_for(first);
    const TimePoint end = wait_for(first + count);
    return to_seconds(end - begin) / static_cast<double>(count);
  }

  /// The time after a change in which the rate is to be that of the new plan.
  static constexpr std::chrono::seconds kSettled{2};

  const std::string name_ = "follow-" + std::to_string(::getpid());
  const std::string bed_ = path(name_ + ".yaml");
  std::vector<std::string> places_;
};

TEST_F(FollowFaults, RateSteps) {
  FaultRow row{.fault = "the link's rate steps 100 → 10 → 50 Mbit/s (`deploy --follow`)",
               .expected = "0 lost, duplicated, reordered; same bits; ≥ 95 % of the new optimum"};
  ASSERT_NO_FATAL_FAILURE(set_rate("100mbit"));
  const std::string store = path("profiles.db");
  const std::vector<std::string> to_plan{"plan",
                                         "--testbed",
                                         name_,
                                         "--engine",
                                         "plain",
                                         "--transport",
                                         "tcp",
                                         "--splits",
                                         "modules",
                                         "--store",
                                         store,
                                         "--prefer",
                                         "throughput",
                                         "--save",
                                         path("plan.json"),
                                         "--measured-cuts",
                                         "2"};
  // Devices that imitate slower ones take long to be profiled.
  std::vector<std::string> planning = of_model(to_plan);
  planning.insert(planning.begin(), "paretoctl");
  const auto planned = run(planning, {}, std::chrono::minutes(6));
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  for (int i = 0; i < 3; ++i) {
    write_npy(path(fmt::format("f{}.npy", i)), {1, 3, 224, 224}, static_cast<float>(i) * 0.1F);
  }
  const std::string deploy = fmt::format("{}/paretoctl deploy --plan {} --testbed {} --json ",
                                         test::programs_folder(), path("plan.json"), name_);
  const auto right = run({"/bin/sh", "-c",
                          deploy + "--output " + path("right") + " " + path("f0.npy") + " " +
                              path("f1.npy") + " " + path("f2.npy") + " > " + path("right.jsonl")});
  ASSERT_EQ(right.exit_code, 0) << right.errors;

  ASSERT_EQ(::mkfifo(path("names").c_str(), 0600), 0);
  Process process({"/bin/sh", "-c",
                   "exec " + deploy + "--follow --store " + store + " --output " + path("results") +
                       " > " + path("log.jsonl") + " <> " + path("names")});
  ASSERT_TRUE(process.wait_for_output("ready", std::chrono::minutes(2))) << process.errors();
  std::jthread feeding([&](const std::stop_token& enough) {
    std::ofstream names(path("names"));
    for (int i = 0; !enough.stop_requested(); ++i)
      names << path(fmt::format("f{}.npy", i % 3)) << std::endl;
  });
  const auto changes = [&] {
    std::istringstream errors(process.errors());
    std::size_t count = 0;
    for (std::string line; std::getline(errors, line);) {
      count += line.starts_with("changed to ") ? 1 : 0;
    }
    return count;
  };
  const auto wait_for_change = [&](std::size_t number) {
    const TimePoint begin = std::chrono::steady_clock::now();
    while (changes() < number &&
           std::chrono::steady_clock::now() - begin < std::chrono::minutes(2)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_GE(changes(), number) << process.errors();
    return to_seconds(std::chrono::steady_clock::now() - begin);
  };
  row.add("period at 100", 1000 * period(10), "ms");
  std::size_t made = changes();
  for (const char* rate : {"10", "50"}) {
    ASSERT_NO_FATAL_FAILURE(set_rate(std::string(rate) + "mbit"));
    row.add(fmt::format("changed to {} after", rate), wait_for_change(made + 1), "s");
    // Requests that were in flight take their time, and those that are ready follow all at once.
    const TimePoint changed = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - changed < kSettled) period(1);
    const double soon = period(10);
    const double later = period(20);
    row.add(fmt::format("period at {}", rate), 1000 * later, "ms");
    row.add(fmt::format("rate at {} {} s after the change", rate, to_seconds(kSettled)),
            100 * later / soon, "% of later");
    made = changes();
  }
  // The pipe is not left without a reader.
  feeding.request_stop();
  feeding.join();
  process.signal(SIGINT);
  process.wait();
  EXPECT_THAT(process.errors(), HasSubstr(", 0 failed"));
  const auto checked =
      paretoctl({"history", path("log.jsonl"), "--expected", path("right.jsonl"), "--json"});
  ASSERT_FALSE(checked.output.empty()) << checked.errors;
  const json verdict = json::parse(checked.output);
  EXPECT_TRUE(verdict["holds"]) << verdict;
  row.add("requests", verdict["answered"].get<std::size_t>());
  row.add("lost", verdict["lost"].get<std::size_t>());
  row.add("duplicated", verdict["duplicated"].get<std::size_t>());
  row.add("out of order", verdict["reordered"].get<std::size_t>());
  row.add("wrong", verdict["wrong"].get<std::size_t>());
  row.add("changes", changes());
  for (const FaultFigure& figure : row.figures) {
    std::printf("%s: %g %s\n", figure.name.c_str(), figure.value, figure.unit.c_str());
  }
  std::printf("%s", process.errors().c_str());
  record(row);
}

}  // namespace
}  // namespace pareto::test
