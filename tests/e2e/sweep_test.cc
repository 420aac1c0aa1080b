// A sweep from its command line to its files, with real daemons on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/e2e/fixture.h"
#include "tests/support/json_schema.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Sweep : public EndToEnd {};

/// Whether any other trial of the same batch and condition is at least as good in both figures and
/// better in one.
bool beaten(const json& trial, const json& trials) {
  for (const json& other : trials) {
    if (other["status"] != "ok" || other["batch"] != trial["batch"]) continue;
    if (other["condition"] != trial["condition"]) continue;
    const double latency = trial["latency_ms"]["p50"];
    const double other_latency = other["latency_ms"]["p50"];
    const double rate = trial["throughput"]["samples_per_s"];
    const double other_rate = other["throughput"]["samples_per_s"];
    if (other_latency <= latency && other_rate >= rate &&
        (other_latency < latency || other_rate > rate)) {
      return true;
    }
  }
  return false;
}

/// The front of a document follows from the figures that it shows, and few rounds make nothing
/// certain.
void expect_honest(const json& run) {
  for (const json& trial : run["trials"]) {
    if (trial["status"] != "ok") continue;
    EXPECT_EQ(trial["on_front"].get<bool>(), !beaten(trial, run["trials"])) << trial["id"];
    if (trial["rounds"] >= 6) continue;
    EXPECT_GE(trial["p_front"], 0.05) << trial["id"];
    EXPECT_LE(trial["p_front"], 0.95) << trial["id"];
  }
}

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

/// Expects that both documents show the same of every trial.
void expect_same_figures(const json& a, const json& b) {
  std::map<std::string, json> by_id;
  for (const json& trial : b["trials"]) by_id[trial["id"]] = trial;
  for (const json& trial : a["trials"]) {
    for (const char* key : {"status", "latency_ms", "throughput", "on_front", "p_front"}) {
      EXPECT_EQ(by_id[trial["id"]].value(key, json()), trial.value(key, json()))
          << trial["id"] << " " << key;
    }
  }
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
      paretoctl(small_sweep({"--splits", "after:features.3,percent:50", "--transport", "tcp,grpc",
                             "--batch", "1,2", "--json", "--report", path("report.html")}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  // (2 split points + 2 one-device plans) x 2 transports x 2 batches
  ASSERT_EQ(run["trials"].size(), 16U);
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
  EXPECT_EQ(ids.size(), 16U);
  EXPECT_EQ(one_device_plans, 8);
  EXPECT_FALSE(run["front"].empty());
  EXPECT_THAT(slurp(path("report.html")), HasSubstr(run["run"].get<std::string>()));
}

TEST_F(Sweep, CodecsMakeLinksLighterAndSayWhatTheyCost) {
  const auto done = paretoctl(small_sweep({"--splits", "after:features.3", "--transport", "tcp,shm",
                                           "--codec", "none,fp16,zero-bitmap", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  // (3 codecs + 2 one-device plans) x 2 transports
  ASSERT_EQ(run["trials"].size(), 10U);
  for (const json& trial : run["trials"]) {
    ASSERT_EQ(trial["status"], "ok") << trial.dump(1);
    const double error = trial["output_error"]["max"].get<double>();
    EXPECT_LT(error, trial["codec"] == "fp16" ? 1e-2 : 1e-4) << trial["id"];
    if (trial["split"].is_null()) continue;
    const auto boundary = trial["split"]["boundary_bytes"].get<std::uint64_t>();
    const auto travelled = trial["links"][1]["wire_bytes"].get<std::uint64_t>();
    // What a frame may take, in hundredths of the boundary.
    const std::map<std::string, std::uint64_t> most{
        {"none", 110}, {"fp16", 60}, {"zero-bitmap", 99}};
    EXPECT_LT(travelled, boundary * most.at(trial["codec"]) / 100) << trial["id"];
    EXPECT_EQ(travelled > boundary, trial["codec"] == "none") << trial["id"];
    EXPECT_EQ(trial["plan"]["codecs"].size(), trial["codec"] == "none" ? 0U : 1U);
  }
}

TEST_F(Sweep, AutoChoosesACodecThatLosesNothingUnlessItMay) {
  const auto done = paretoctl(small_sweep({"--splits", "after:features.3", "--transport", "tcp",
                                           "--codec", "none,auto,fp16", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  ASSERT_EQ(run["trials"].size(), 5U);
  const std::set<std::string> lossless{"none", "zero-bitmap", "lz4", "zstd"};
  int chosen = 0;
  for (const json& trial : run["trials"]) {
    ASSERT_EQ(trial["status"], "ok") << trial.dump(1);
    if (!trial["auto_codec"].get<bool>()) continue;
    ++chosen;
    EXPECT_TRUE(lossless.contains(trial["codec"])) << trial["codec"];
    EXPECT_EQ(trial["plan"]["codecs"], json::array({trial["codec"]}));
    EXPECT_THAT(trial["id"].get<std::string>(), testing::EndsWith("/auto"));
  }
  EXPECT_EQ(chosen, 1);
  const auto front = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  ASSERT_EQ(front.exit_code, 0) << front.errors;
  const json stored = json::parse(front.output);
  // What was stored says the same.
  std::map<std::string, json> by_id;
  for (const json& trial : stored["trials"]) by_id[trial["id"]] = trial;
  for (const json& trial : run["trials"]) {
    for (const char* key : {"codec", "auto_codec", "plan"}) {
      EXPECT_EQ(by_id[trial["id"]][key], trial[key]) << trial["id"];
    }
  }

  std::vector<std::string> arguments{"run",  "--json",   "--split", "after:features.3", "--codec",
                                     "auto", "--engine", "plain",   "--codec-error",    "0.01"};
  const auto model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  const auto ran = paretoctl(arguments);
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  const json trial = json::parse(ran.output)["trial"];
  EXPECT_TRUE(trial["auto_codec"].get<bool>());
  EXPECT_EQ(trial["plan"]["codecs"], json::array({trial["codec"]}));
}

TEST_F(Sweep, AutoSharesMemoryWithDaemonsOfThisMachine) {
  const auto done = paretoctl(small_sweep(
      {"--splits", "after:features.3", "--transport", "auto", "--rounds", "1", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  ASSERT_EQ(run["trials"].size(), 3U);
  for (const json& trial : run["trials"]) {
    ASSERT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_EQ(trial["transport"], "shm");
  }
  // A daemon that serves no shm is spoken to by tcp.
  Daemon first("first", folder());
  std::vector<std::string> arguments{
      "run",         "--json", "--engine",  "plain",
      "--transport", "auto",   "--devices", inventory({{"first", first.address()}})};
  const auto model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  const auto ran = paretoctl(arguments);
  ASSERT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_EQ(json::parse(ran.output)["trial"]["transport"], "tcp");
}

TEST_F(Sweep, SendsEachWeightToADeviceAtMostOnce) {
  const auto done = paretoctl(
      small_sweep({"--splits", "modules", "--transport", "tcp,grpc", "--rounds", "1", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  const auto splits = json::parse(paretoctl({"splits", "--json", "--model", "squeezenet1_0",
                                             "--input-shape", "3x64x64", "--num-classes", "10"})
                                      .output);
  const auto model_bytes = splits["weight_bytes"].get<std::uint64_t>();
  ASSERT_GT(model_bytes, 1000000U);
  for (const json& device : run["devices"]) {
    EXPECT_GT(device["weights_sent_bytes"].get<std::uint64_t>(), 0U);
    EXPECT_LE(device["weights_sent_bytes"].get<std::uint64_t>(), model_bytes) << device.dump();
  }
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

TEST_F(Sweep, AnInterruptedRunGoesOnWhereItStopped) {
  auto arguments = small_sweep({"--splits", "modules", "--rounds", "4", "--predict"});
  arguments.insert(arguments.begin(), "paretoctl");
  // OpenBLAS then starts threads before main(): they must not be where a signal ends the program.
  Process sweep(arguments, {"OPENBLAS_NUM_THREADS=2"});
  // Both devices are profiled first.
  ASSERT_TRUE(sweep.wait_for_output("round 1", std::chrono::minutes(4))) << sweep.errors();
  sweep.signal(SIGINT);
  ASSERT_EQ(sweep.wait(), 4) << sweep.errors();
  EXPECT_THAT(sweep.errors(), HasSubstr("--resume"));
  const auto stopped = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  expect_honest(json::parse(stopped.output));
  const auto resumed =
      paretoctl({"sweep", "--store", path("results.db"), "--resume", "last", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  const json run = json::parse(resumed.output);
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial["id"];
    EXPECT_TRUE(trial.contains("predicted")) << trial["id"];
  }
  const auto planned =
      json::parse(paretoctl(small_sweep({"--splits", "modules", "--dry-run", "--json"})).output);
  EXPECT_EQ(run["trials"].size(), planned["trials"].size());
  // Views of the stored run agree with what the sweep printed.
  const auto front = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  ASSERT_EQ(front.exit_code, 0) << front.errors;
  EXPECT_EQ(json::parse(front.output)["front"], run["front"]);
  expect_same_figures(json::parse(front.output), run);
  expect_honest(run);
}

TEST_F(Sweep, AnAdaptiveOneMeasuresWhatMayBeOnTheFrontAndGoesOnWhereItStopped) {
  Daemon first("first", folder());
  Daemon second("second", folder());
  const auto devices = inventory({{"first", first.address()}, {"second", second.address()}});
  auto arguments = small_sweep({"--devices", devices, "--splits", "modules", "--transport", "tcp",
                                "--adaptive", "--budget", "20s"});
  arguments.insert(arguments.begin(), "paretoctl");
  Process sweep(arguments);
  // Both devices are profiled first.
  ASSERT_TRUE(sweep.wait_for_output("plans measured", std::chrono::minutes(4))) << sweep.errors();
  sweep.signal(SIGKILL);
  sweep.wait();
  const auto killed = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  expect_honest(json::parse(killed.output));
  const auto resumed =
      paretoctl({"sweep", "--store", path("results.db"), "--resume", "last", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  const json run = json::parse(resumed.output);
  std::size_t measured = 0;
  for (const json& trial : run["trials"]) {
    ASSERT_TRUE(trial.contains("predicted")) << trial["id"];
    EXPECT_GT(trial["predicted"]["latency_ms"], 0);
    EXPECT_GT(trial["predicted"]["expected_samples_per_s"], 0);
    if (trial["status"] == "ok")
      ++measured;
    else
      EXPECT_EQ(trial["status"], "predicted");
  }
  EXPECT_GT(measured, 0U);
  for (const json& device : run["devices"]) {
    EXPECT_GT(device["weights_sent_bytes"], 0) << "profiles sent them, before the first plan";
  }
  expect_honest(run);
  EXPECT_FALSE(run["front"].empty());
  EXPECT_TRUE(run["options"]["sweep"]["adaptive"].get<bool>());
  EXPECT_THAT(run["note"].get<std::string>(), HasSubstr("The sweep is adaptive"));
  const auto longer = paretoctl(
      {"sweep", "--store", path("results.db"), "--resume", "last", "--budget", "25s", "--json"});
  ASSERT_EQ(longer.exit_code, 0) << longer.errors;
  EXPECT_THAT(json::parse(longer.output)["note"].get<std::string>(), HasSubstr("25 s in all"));
  EXPECT_EQ(json::parse(longer.output)["options"]["sweep"]["budget_s"], 25)
      << "what was said anew is kept";
  expect_honest(json::parse(longer.output));
  const auto front = paretoctl({"front", "--store", path("results.db"), "--json", "last"});
  expect_same_figures(json::parse(front.output), json::parse(longer.output));
}

TEST_F(Sweep, WhatIsMeasuredCanBePredictedFirst) {
  const auto sweep = paretoctl(
      small_sweep({"--splits", "percent:30,percent:60", "--transport", "tcp", "--batch", "1,4",
                   "--micro-batch", "none,2", "--rounds", "1", "--predict", "--json"}));
  ASSERT_EQ(sweep.exit_code, 0) << sweep.errors;
  const json run = json::parse(sweep.output);
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial["id"];
    EXPECT_TRUE(trial.contains("predicted")) << trial["id"];
  }
  std::size_t compared = 0;
  for (const json& error : run["prediction_errors"]) compared += error["trials"].get<std::size_t>();
  EXPECT_EQ(compared, run["trials"].size());
  EXPECT_THAT(paretoctl({"front", "--store", path("results.db"), "last"}).output,
              HasSubstr("Predictions against what was measured"));
}

TEST_F(Sweep, ManyPlansAreSweptAdaptivelyUnlessToldOtherwise) {
  const auto dry = [&](std::vector<std::string> more) {
    more.emplace_back("--dry-run");
    return paretoctl(small_sweep(std::move(more))).errors;
  };
  const auto all = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--splits", "all", "--transport", "tcp,grpc"});
    return dry(std::move(more));
  };
  EXPECT_THAT(all({}), HasSubstr("adaptive: "));
  EXPECT_THAT(all({"--exhaustive"}), Not(HasSubstr("adaptive")));
  EXPECT_THAT(all({"--budget", "soon"}), HasSubstr("--budget"));
  EXPECT_THAT(dry({"--splits", "percent:50"}), Not(HasSubstr("adaptive")));
  EXPECT_THAT(dry({"--splits", "percent:50", "--budget", "30s"}),
              testing::AllOf(HasSubstr("adaptive: "), HasSubstr("for 30 s at most")));
}

TEST_F(Sweep, AKilledDaemonFailsItsTrialsInBoundedTime) {
  Daemon first("first", folder());
  Daemon second("second", folder());
  auto arguments =
      small_sweep({"--splits", "modules", "--rounds", "4", "--devices",
                   inventory({{"first", first.address()}, {"second", second.address()}})});
  arguments.insert(arguments.begin(), "paretoctl");
  Process sweep(arguments);
  ASSERT_TRUE(sweep.wait_for_output("round 1")) << sweep.errors();
  second.process().signal(SIGKILL);
  EXPECT_EQ(sweep.wait(std::chrono::seconds(180)), 4) << sweep.errors();
  EXPECT_THAT(sweep.errors(),
              testing::ContainsRegex("the first: [^ ]+: a device was lost: second "));
  const auto runs = paretoctl({"runs", "--store", path("results.db"), "--json"});
  ASSERT_EQ(runs.exit_code, 0) << runs.errors;
  EXPECT_EQ(json::parse(runs.output).size(), 1U) << runs.output;
}

TEST_F(Sweep, DaemonsForgetACoordinatorThatWasKilled) {
  Daemon first("first", folder());
  Daemon second("second", folder());
  const auto devices = inventory({{"first", first.address()}, {"second", second.address()}});
  auto arguments = small_sweep({"--splits", "modules", "--rounds", "4", "--devices", devices});
  arguments.insert(arguments.begin(), "paretoctl");
  Process sweep(arguments);
  ASSERT_TRUE(sweep.wait_for_output("round 1")) << sweep.errors();
  sweep.signal(SIGKILL);
  json list;
  const auto held = [&] {
    const auto seen = paretoctl({"devices", "--devices", devices, "--json"});
    EXPECT_EQ(seen.exit_code, 0) << seen.errors;
    list = json::parse(seen.output);
    int count = 0;
    for (const json& device : list)
      count += device["shards"].get<int>() + device["stages"].get<int>();
    return count;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (held() > 0 && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(held(), 0) << list.dump(2);
}

TEST_F(Sweep, TwoSweepsShareTheSameDaemons) {
  Daemon first("first", folder());
  Daemon second("second", folder());
  const auto devices = inventory({{"first", first.address()}, {"second", second.address()}});
  auto arguments = small_sweep({"--splits", "after:features.3", "--devices", devices});
  arguments.insert(arguments.begin(), "paretoctl");
  Process a(arguments);
  arguments[3] = path("other.db");
  Process b(arguments);
  EXPECT_EQ(a.wait(), 0) << a.errors();
  EXPECT_EQ(b.wait(), 0) << b.errors();
  first.process().signal(SIGTERM);
  EXPECT_EQ(first.process().wait(), 0) << first.process().errors();
}

}  // namespace
}  // namespace pareto::test
