// A sweep from its command line to its files, with real daemons on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/e2e/fixture.h"
#include "tests/e2e/sweep_fixture.h"
#include "tests/support/json_schema.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Returns the ids of those that no other trial beats by two objectives of which less is better.
std::set<std::string> front_by(const json& run, const char* a, const char* b) {
  std::set<std::string> front;
  const auto figure = [](const json& trial, const char* name) {
    return trial["objectives"][name].get<double>();
  };
  for (const json& trial : run["trials"]) {
    const bool is_beaten = std::ranges::any_of(run["trials"], [&](const json& other) {
      const double less_a = figure(trial, a) - figure(other, a);
      const double less_b = figure(trial, b) - figure(other, b);
      return less_a >= 0 && less_b >= 0 && (less_a > 0 || less_b > 0);
    });
    if (!is_beaten) front.insert(trial["id"].get<std::string>());
  }
  return front;
}

std::set<std::string> marked(const json& run) {
  std::set<std::string> front;
  for (const json& trial : run["trials"]) {
    if (trial["on_front"].get<bool>()) front.insert(trial["id"].get<std::string>());
  }
  return front;
}

TEST_F(Sweep, ShowsTheFrontOfAnyObjectives) {
  const Daemon first("first", folder());
  const Daemon second("second", folder());
  std::ofstream(path("priced.yaml"))
      << "devices:\n"
      << "  - {name: first, address: \"" << first.address() << "\", price_per_hour: 0.02}\n"
      << "  - {name: second, address: \"" << second.address()
      << "\", price_per_hour: 2, power: 5W}\n";
  const auto done = paretoctl(
      small_sweep({"--devices", path("priced.yaml"), "--splits",
                   "after:features.3,after:features.9", "--transport", "tcp", "--objectives",
                   "network_bytes,cost", "--report", path("report.html"), "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("sweep"), run), testing::IsEmpty());
  EXPECT_EQ(run["axes"], json({"network_bytes", "cost"}));
  ASSERT_EQ(run["trials"].size(), 4U);
  EXPECT_EQ(marked(run), front_by(run, "network_bytes", "cost"));
  for (const json& trial : run["trials"]) {
    // Both devices of a split plan are paid, a whole model's one alone.
    double price = 0;
    for (const json& stage : trial["stages"]) price += stage["device"] == "first" ? 0.02 : 2;
    EXPECT_NEAR(trial["objectives"]["cost"],
                price / 3600 * 1000 / trial["throughput"]["samples_per_s"].get<double>(), 1e-9);
    double bytes = 0;
    for (const json& link : trial["links"]) bytes += link["wire_bytes"].get<double>();
    EXPECT_NEAR(trial["objectives"]["network_bytes"], bytes, 0.5);
    const bool on_second = trial["stages"].size() == 1 && trial["stages"][0]["device"] == "second";
    EXPECT_EQ(trial["objectives"].contains("energy"), on_second) << "of one no power is known";
  }
  const auto stored = [&](const std::string& objectives) {
    return paretoctl(
        {"front", "--store", path("results.db"), "--objectives", objectives, "--json"});
  };
  const json by_memory = json::parse(stored("memory,latency").output);
  EXPECT_EQ(marked(by_memory), front_by(by_memory, "memory", "latency"));
  EXPECT_EQ(
      marked(json::parse(paretoctl({"front", "--store", path("results.db"), "--json"}).output)),
      marked(run))
      << "those that the sweep named hold, unless others are named";
  const auto table =
      paretoctl({"front", "--store", path("results.db"), "--objectives", "cost,throughput"});
  EXPECT_THAT(table.output,
              testing::AllOf(HasSubstr("Pareto front of cost, throughput"), HasSubstr("  cost\n")));
  EXPECT_THAT(paretoctl({"export", "--store", path("results.db"), "--csv"}).output,
              testing::AllOf(HasSubstr("objective_cost"), HasSubstr("objective_network_bytes")));
  const auto unknown = stored("loss,latency");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, testing::AllOf(HasSubstr("--objectives"), HasSubstr("\"loss\"")));
}

TEST_F(Sweep, MeasuresEveryPlanAndMarksTheFront) {
  const auto done =
      paretoctl(small_sweep({"--splits", "after:features.3", "--transport", "tcp,grpc", "--batch",
                             "1,2", "--json", "--report", path("report.html")}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  // (1 split point + 2 one-device plans) x 2 transports x 2 batches
  ASSERT_EQ(run["trials"].size(), 12U);
  std::set<std::string> ids;
  int one_device_plans = 0;
  for (const json& trial : run["trials"]) {
    ids.insert(trial["id"]);
    ASSERT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_EQ(trial["latency_ms"]["window"], 1);
    EXPECT_GE(trial["throughput"]["window"].get<int>(), 1);
    // Three in each of two rounds, however slow the machine is.
    EXPECT_GE(trial["latency_ms"]["samples"].get<int>(), 6);
    EXPECT_GE(trial["p_front"].get<double>(), 0);
    EXPECT_LE(trial["p_front"].get<double>(), 1);
    const auto low = trial["latency_ms"]["ci95"][0].get<double>();
    const auto high = trial["latency_ms"]["ci95"][1].get<double>();
    EXPECT_LE(low, trial["latency_ms"]["p50"].get<double>());
    EXPECT_GE(high, trial["latency_ms"]["p50"].get<double>());
    one_device_plans += trial["split"].is_null() ? 1 : 0;
    EXPECT_EQ(trial["stages"].size(), trial["split"].is_null() ? 1U : 2U);
    EXPECT_EQ(trial["links"].size(), trial["stages"].size() + 1);
    for (const json& link : trial["links"]) EXPECT_GT(link["bytes"].get<int>(), 0);
  }
  expect_honest(run);
  EXPECT_EQ(ids.size(), 12U);
  EXPECT_EQ(one_device_plans, 8);
  EXPECT_FALSE(run["front"].empty());
  EXPECT_THAT(slurp(path("report.html")), HasSubstr(run["run"].get<std::string>()));
}

TEST_F(Sweep, DryRunListsTheTrialsAndRunsNone) {
  const auto done = paretoctl(small_sweep({"--splits", "after:features.3", "--dry-run", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  // Of one transport, which run and plan choose as well.
  ASSERT_EQ(run["trials"].size(), 3U);
  for (const json& trial : run["trials"]) EXPECT_FALSE(trial.contains("latency_ms"));
  const auto listed = paretoctl(small_sweep({"--splits", "after:features.3", "--dry-run"}));
  EXPECT_THAT(listed.output, testing::ContainsRegex("after:features.3 +local-0 > local-1 +shm"));
  EXPECT_THAT(listed.output, HasSubstr("all on local-0"));
}

}  // namespace
}  // namespace pareto::test
