// The picture of a run: that it can be read, and that it agrees with itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;

class Trace : public EndToEnd {
 protected:
  json traced(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run",      "--split", "percent:50",
                                       "--engine", "plain",   "--requests",
                                       "10",       "--trace", path("trace.json")};
    const auto model = small_model();
    arguments.insert(arguments.end(), model.begin(), model.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = paretoctl(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_THAT(done.output, testing::HasSubstr("trace.json"));
    std::ifstream file(path("trace.json"));
    return json::parse(file);
  }

  static void expect_inside(const json& trace) {
    double error_us = 0;
    std::set<std::string> devices;
    for (const json& clock : trace.at("otherData").at("clocks")) {
      error_us = std::max(error_us, clock.at("error_us").get<double>());
      devices.insert(clock.at("device"));
    }
    EXPECT_EQ(devices.size(), 2U);
    EXPECT_GT(error_us, 0);
    EXPECT_LT(error_us, 100e3);
    std::map<int, std::string> processes;
    std::map<int, std::pair<double, double>> requests;
    for (const json& event : trace.at("traceEvents")) {
      if (event.at("name") == "process_name") processes[event.at("pid")] = event["args"]["name"];
      if (event.at("name") != "request" || event.at("ph") != "X") continue;
      const double sent = event.at("ts");
      requests[event["args"]["request"]] = {sent, sent + event.at("dur").get<double>()};
    }
    EXPECT_EQ(requests.size(), 10U);
    std::map<std::string, int> seen;
    for (const json& event : trace.at("traceEvents")) {
      if (event.at("ph") != "X" || !devices.contains(processes.at(event.at("pid")))) continue;
      const std::string name = event.at("name");
      const auto& [sent, completed] = requests.at(event.at("args").at("request"));
      const double start = event.at("ts");
      EXPECT_GE(start, sent - error_us) << event;
      // A send returns when the system likes, and the sink may have had it all before.
      const double end = name == "send" ? start : start + event.at("dur").get<double>();
      EXPECT_LE(end, completed + error_us) << event;
      ++seen[name];
    }
    // The last request's are not known.
    const std::map<std::string, int> expected{{"receive", 20}, {"decode", 20}, {"queue", 20},
                                              {"compute", 20}, {"encode", 18}, {"send", 18}};
    EXPECT_EQ(seen, expected);
  }
};

TEST_F(Trace, EveryStageIsWithinItsRequest) {
  for (const char* transport : {"tcp", "grpc"}) {
    expect_inside(traced({"--window", "3", "--transport", transport}));
  }
}

TEST_F(Trace, AtWindowOneToo) {
  const json trace = traced({"--window", "1"});
  EXPECT_EQ(trace.at("otherData").at("window"), 1);
  expect_inside(trace);
}

TEST_F(Trace, AFolderThatIsNotThereIsNamed) {
  std::vector<std::string> arguments{
      "run", "--engine", "plain", "--requests", "1", "--trace", path("absent/trace.json")};
  const auto model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  const auto done = paretoctl(arguments);
  EXPECT_NE(done.exit_code, 0);
  EXPECT_THAT(done.errors, testing::HasSubstr("absent"));
}

}  // namespace
}  // namespace pareto::test
