// paretoctl simulate: scenarios from files, stored runs, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/client/support/program.h"
#include "tests/support/json_schema.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Simulate : public Program {
 protected:
  Done run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "simulate");
    return Program::run(arguments);
  }

  /// Progress may have been told before.
  void refused(const std::vector<std::string>& arguments,
               const testing::Matcher<std::string>& sentence) const {
    const Done done = run(arguments);
    EXPECT_EQ(done.code, kExitUsage) << done.err;
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, sentence);
  }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

  results::RunRecord stored_run() const {
    return Program::stored_run({.transports = {"tcp"}, .batches = {1}});
  }
};

constexpr const char* kScenario = R"(
requests: 5000
devices: [{name: camera, count: 4}, {name: edge, cores: 2}]
media: [{name: wifi, condition: {rate: 80mbit, delay: 2ms}}]
pipelines:
  - name: detect
    count: 4
    arrivals: {poisson: 10/s}
    stages:
      - {device: camera, compute: 20ms, cv: 10%}
      - {device: edge, compute: 4ms, link: {medium: wifi, bytes: 100KiB}}
    result: {medium: wifi, bytes: 1KiB}
)";

TEST_F(Simulate, AScenarioAsTable) {
  const Done done = run({file("s.yaml", kScenario)});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("5000 requests"), HasSubstr("detect"),
                              HasSubstr("medium wifi"), HasSubstr("camera")));
}

TEST_F(Simulate, AScenarioAsJson) {
  const std::string scenario = file("s.yaml", kScenario);
  const Done done = run({scenario, "--json"});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  const json document = json::parse(done.out);
  EXPECT_THAT(test::violations(test::golden_schema("simulation"), document), IsEmpty());
  const json& pipeline = document["pipelines"][0];
  EXPECT_NEAR(pipeline["requests_per_s"].get<double>(), 40, 2);
  // 106.3 kB and 1.4 kB at 10 MB/s, 40 times a second.
  EXPECT_NEAR(document["media"][0]["use"]["mean"].get<double>(), 0.43, 0.03);
  EXPECT_EQ(pipeline["window"], json());
  EXPECT_EQ(run({scenario, "--json"}).out, done.out);
  EXPECT_NE(run({scenario, "--json", "--seed", "2"}).out, done.out);
  EXPECT_EQ(json::parse(run({scenario, "--json", "--requests", "100"}).out)["requests"], 100);
}

TEST_F(Simulate, RequestsMayEndItBeforeATenthOfItsDuration) {
  const std::string scenario = file("s.yaml", std::string("duration: 60min") + kScenario);
  const Done done = run({scenario, "--json", "--requests", "1000"});
  ASSERT_EQ(done.code, kExitDone) << done.err;
  const json document = json::parse(done.out);
  EXPECT_EQ(document["pipelines"][0]["requests"], 900);
  EXPECT_GT(document["pipelines"][0]["latency_ms"]["p50"], 0);
}

TEST_F(Simulate, AStoredRunBesideItself) {
  const results::RunRecord record = stored_run();
  const Done table = run({"--run", "last", "--requests", "500"});
  EXPECT_EQ(table.code, kExitDone) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr(record.id), HasSubstr("after:features.3"),
                               HasSubstr("not simulated"), HasSubstr("20 trials")));
  const Done done = run({"--run", record.id, "--requests", "500", "--json"});
  const json document = json::parse(done.out);
  EXPECT_THAT(test::violations(test::golden_schema("simulated_run"), document), IsEmpty());
  EXPECT_EQ(document["trials"].size(), record.trials.size());
  EXPECT_EQ(document["trials"][0]["samples_per_s"]["measured"],
            record.trials[0].throughput.measured_per_s);
  EXPECT_LT(document["errors"]["p50_ms"]["max"].get<double>(), 0.05);
}

TEST_F(Simulate, AScenarioAsReportAndCsv) {
  const std::string scenario = file("s.yaml", kScenario);
  const Done plain = run({scenario, "--json"});
  const Done done = run({scenario, "--json", "--report", path("s.html"), "--csv", path("s.csv")});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_EQ(done.out, plain.out);
  EXPECT_THAT(done.err, HasSubstr("report: " + path("s.html")));
  const std::string page = read_file(path("s.html")).value();
  EXPECT_THAT(page, AllOf(HasSubstr("Simulation of "), HasSubstr("\"simulated\":\"figures\""),
                          HasSubstr("\"camera\"")));
  EXPECT_THAT(read_file(path("s.csv")).value(),
              AllOf(HasSubstr(",simulated\r\n"), HasSubstr(",detect,"), HasSubstr(",figures\r\n")));
}

TEST_F(Simulate, AStoredRunAsReportAndCsv) {
  const results::RunRecord record = stored_run();
  const Done done = run(
      {"--run", "last", "--requests", "500", "--report", path("r.html"), "--csv", path("r.csv")});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_THAT(read_file(path("r.html")).value(),
              AllOf(HasSubstr("\"simulated\":\"predictions\""), HasSubstr(record.id)));
  EXPECT_THAT(read_file(path("r.csv")).value(),
              AllOf(HasSubstr(record.trials[0].id), HasSubstr(",predictions\r\n")));
}

TEST_F(Simulate, ATrialOfAStoredRunInAScenario) {
  const results::RunRecord record = stored_run();
  const std::string text = R"(
requests: 2000
devices: [{name: phone, count: 2}, {name: server, cores: 4}]
pipelines:
  - {name: p, count: 2, run: last, trial: TRIAL, window: 3, stages: [{device: phone}, {device: server}]}
)";
  const auto with = [&](const std::string& trial) {
    std::string changed = text;
    changed.replace(changed.find("TRIAL"), 5, "\"" + trial + "\"");
    return run({file("r.yaml", changed), "--json"});
  };
  const Done done = with(record.trials[3].id);
  ASSERT_EQ(done.code, kExitDone) << done.err;
  EXPECT_GT(json::parse(done.out)["pipelines"][0]["requests_per_s"], 0);
  const Done unknown = with("after:features.33/tcp/b1");
  EXPECT_EQ(unknown.code, kExitUsage);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("r.yaml:5"), HasSubstr("after:features.3")));
}

TEST_F(Simulate, WhatItRefuses) {
  refused({}, HasSubstr("one of the two"));
  refused({"s.yaml", "--run", "last"}, HasSubstr("one of the two"));
  refused({"s.yaml", "--cores", "2"}, AllOf(HasSubstr("--cores"), HasSubstr("does not go with")));
  refused({"nowhere.yaml"}, HasSubstr("nowhere.yaml"));
  refused({file("s.yaml", kScenario), "--requests", "-1"}, HasSubstr("--requests"));
  refused({file("s.yaml", kScenario), "--requests", "0"}, HasSubstr("--requests 0: at least 1"));
  refused({"--run", "last", "--requests", "0"}, HasSubstr("--requests 0: at least 1"));
  refused({file("s.yaml", kScenario), "--sed", "1"}, HasSubstr("--sed"));
  refused({file("w.yaml", "duration: 1s\npipelins: []\n")},
          AllOf(HasSubstr("w.yaml:2"), HasSubstr("pipelines")));
  refused({file("u.yaml", std::string("duration: 60min\nwarm_up: 20min") + kScenario)},
          AllOf(HasSubstr("u.yaml: nothing was measured"), HasSubstr("warm_up")));
  refused({"--run", "last"}, HasSubstr("holds no run"));
  stored_run();
  refused({"--run", "20300101"}, HasSubstr("20300101"));
  refused({"--run", "last", "--cores", "0"}, HasSubstr("cores"));
  refused({file("s.yaml", kScenario), "--report", path("")},
          AllOf(HasSubstr("--report"), HasSubstr("is a folder")));
  refused({file("s.yaml", kScenario), "--csv", path("nowhere/s.csv")}, HasSubstr("--csv"));
}

}  // namespace
}  // namespace pareto::client::commands
