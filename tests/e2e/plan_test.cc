// Profiles, predictions and the plans that come of them, with real daemons.
#include "core/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/e2e/planning_fixture.h"
#include "tests/support/json_schema.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(Planning, APredictedPlanIsAFileThatRuns) {
  const Finished done = paretoctl(
      planning("plan", {"--prefer", "throughput", "--all", "--save", path("plan.json"), "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json document = json::parse(done.output);
  const json& network = document["networks"][0];
  ASSERT_FALSE(network["front"].empty());
  double latency = 0;
  double throughput = 0;
  for (const json& point : network["front"]) {
    EXPECT_GT(point["latency_ms"], latency);
    EXPECT_GT(point["samples_per_s"], throughput);
    EXPECT_GE(point["latency_ms"], point["unloaded_latency_ms"]);
    ASSERT_TRUE(point.contains("with_jitter")) << "devices were profiled now";
    EXPECT_LE(point["with_jitter"]["samples_per_s"], point["samples_per_s"]);
    EXPECT_GT(point["with_jitter"]["samples_per_s"], 0);
    latency = point["latency_ms"];
    throughput = point["samples_per_s"];
  }
  EXPECT_EQ(network["chosen"], network["front"].size() - 1);
  EXPECT_GT(network["plans"].size(), network["front"].size());

  json saved;
  std::ifstream(path("plan.json")) >> saved;
  EXPECT_EQ(saved["model_source"]["num_classes"], 10);
  saved.erase("model_source");
  EXPECT_EQ(saved, network["front"].back()["plan"]);
  const Finished run = paretoctl({"run", "--plan", path("plan.json"), "--requests", "3", "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;

  // The profiles are kept, and links are probed again, on a machine that others keep busy.
  std::vector<std::unique_ptr<Process>> others;
  for (unsigned core = 0; core < std::thread::hardware_concurrency(); ++core) {
    others.push_back(std::make_unique<Process>(
        std::vector<std::string>{"/bin/sh", "-c", "while :; do :; done"}));
  }
  const Finished busy = paretoctl(planning("plan", {}));
  EXPECT_EQ(busy.exit_code, 0) << busy.errors;
  EXPECT_THAT(busy.errors, testing::ContainsRegex("this machine: load .* others used [0-9]+ %"));
}

TEST_F(Planning, APredictedFrontIsAFolderThatIsMeasured) {
  const std::vector<std::string> arguments =
      planning("plan", {"--save-front", path("front"), "--json"});
  const Finished done = paretoctl(arguments);
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json front = json::parse(done.output)["networks"][0]["front"];
  const Finished swept =
      paretoctl(small_sweep({"--plans", path("front"), "--predict", "--rounds", "1", "--json"}));
  ASSERT_EQ(swept.exit_code, 0) << swept.errors;
  const json run = json::parse(swept.output);
  std::map<std::string, json> by_name;
  for (const json& trial : run["trials"]) by_name[trial["name"]] = trial;
  ASSERT_EQ(by_name.size(), front.size());
  auto point = front.begin();
  for (const auto& [name, trial] : by_name) {
    EXPECT_EQ(trial["plan"], (*point)["plan"]) << name;
    EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_EQ(trial["predicted"]["window"], (*point)["window"]);
    EXPECT_GT(trial["predicted"]["latency_ms"], 0);
    ++point;
  }
  const Finished again = paretoctl(arguments);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.errors, HasSubstr("--save-front: " + path("front")));
}

TEST_F(Planning, APredictedPlanIsAScenarioThatIsSimulated) {
  const Finished done = paretoctl(
      planning("plan", {"--prefer", "throughput", "--scenario", path("fleet.yaml"), "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json network = json::parse(done.output)["networks"][0];
  const json& chosen = network["front"][network["chosen"].get<std::size_t>()];
  const Finished simulated = paretoctl({"simulate", path("fleet.yaml"), "--json"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.errors;
  const json pipeline = json::parse(simulated.output)["pipelines"][0];
  EXPECT_EQ(pipeline["window"], chosen["window"]);
  EXPECT_EQ(pipeline["stages"].size(), chosen["plan"]["stages"].size());
  // From the same profiles and probes; the simulation has jitter too.
  EXPECT_GT(pipeline["samples_per_s"], 0.3 * chosen["samples_per_s"].get<double>());
  EXPECT_LT(pipeline["samples_per_s"], 1.3 * chosen["samples_per_s"].get<double>());
}

TEST_F(Planning, EachDeviceHasTheBestOfSeveralSettings) {
  const std::vector<std::string> lists{"--threads",           "2",        "--schedule",
                                       "sequential,clusters", "--engine", "plain"};
  const auto with = [&](const std::string& command, std::vector<std::string> more) {
    more.insert(more.end(), lists.begin(), lists.end());
    return planning(command, more);
  };
  const Finished done =
      paretoctl(with("plan", {"--all", "--prefer", "throughput", "--measured-cuts", "1", "--save",
                              path("plan.json"), "--save-front", path("front"), "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.errors,
              HasSubstr("profiling 2 devices, batch 1, 2 threads, engine plain, fp32 ("));
  EXPECT_THAT(done.errors, HasSubstr("batch 1, 2 threads, engine plain, fp32, schedule clusters"));
  const json document = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("plan"), document), testing::IsEmpty());
  const json& network = document["networks"][0];
  // Two cuts and two orders of two devices, each device by two settings; and each device alone.
  EXPECT_EQ(network["plans"].size(), 2U * 2U * 2U * 2U + 2U * 2U);
  for (const json& point : network["front"]) {
    const plan::Plan plan = plan::plan_from_json(point["plan"].dump()).value();
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      EXPECT_THAT(plan.settings_of(i).schedule, testing::AnyOf("sequential", "clusters"));
    }
  }
  // Among candidates each device alone by each of the settings.
  std::set<std::string> alone;
  for (const json& one : network["plans"]) {
    const plan::Plan plan = plan::plan_from_json(one["plan"].dump()).value();
    if (plan.stages.size() != 1) continue;
    alone.insert(plan.stages[0].device + plan.schedule_text());
  }
  EXPECT_EQ(alone.size(), 2U * 2U);
  const Finished run = paretoctl({"run", "--plan", path("plan.json"), "--requests", "3", "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  const Finished swept =
      paretoctl(small_sweep({"--plans", path("front"), "--rounds", "1", "--json"}));
  EXPECT_EQ(swept.exit_code, 0) << swept.errors;

  // What was profiled is kept by its settings.
  const Finished again = paretoctl(with("plan", {"--measured-cuts", "1"}));
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors, testing::Not(HasSubstr("profiling 2 devices")));
  EXPECT_THAT(again.output, testing::ContainsRegex("devices +schedule +lone ms"));
  // More combinations than are searched are refused before anything is measured.
  const Finished refused = paretoctl(
      planning("plan", {"--threads", "1,2,3,4,5,6,7,8,9", "--schedule", "sequential,clusters"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors,
              testing::AllOf(HasSubstr("--threads 1,2,3,4,5,6,7,8,9"), HasSubstr("--schedule"),
                             HasSubstr("324 combinations"), HasSubstr("256"),
                             testing::Not(HasSubstr("profiling"))));
}

TEST_F(Planning, EachLinkHasACodecAndATransport) {
  const Finished done = paretoctl(
      planning("plan", {"--codec", "none,int8", "--transport", "tcp,grpc", "--also", "loss",
                        "--first", "local-0", "--last", "local-1", "--all", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json document = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("plan"), document), testing::IsEmpty());
  EXPECT_EQ(document["transports"], json({"tcp", "grpc"}));
  EXPECT_EQ(document["codecs"], json({"none", "int8"}));
  const json& network = document["networks"][0];
  std::set<std::string> ways;
  for (const json& one : network["plans"]) {
    const plan::Plan plan = plan::plan_from_json(one["plan"].dump()).value();
    if (plan.stages.size() != 2) continue;
    const bool lossy = !plan.codecs.empty();
    ways.insert(plan.transport_of(1) + (lossy ? " int8" : ""));
    EXPECT_EQ(one["objectives"]["loss"] > 0, lossy) << one;
  }
  EXPECT_EQ(ways, (std::set<std::string>{"tcp", "tcp int8", "grpc", "grpc int8"}));
  const auto lossless = [](const json& point) { return point["objectives"]["loss"] == 0; };
  EXPECT_TRUE(std::ranges::any_of(network["front"], lossless))
      << "nothing that loses something beats what does not";
}

TEST_F(Planning, APlanWithACodecIsAFileThatRuns) {
  const Finished done =
      paretoctl(planning("plan", {"--codec", "int8", "--transport", "grpc", "--first", "local-1",
                                  "--last", "local-0", "--save", path("plan.json")}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("plan: " + path("plan.json")));
  EXPECT_THAT(done.output, HasSubstr("loss ppm"));
  json saved;
  std::ifstream(path("plan.json")) >> saved;
  EXPECT_EQ(saved["codecs"], json({"int8"}));
  EXPECT_EQ(saved["transport"], "grpc");
  const Finished run = paretoctl({"run", "--plan", path("plan.json"), "--requests", "3", "--json",
                                  "--num-classes", "10", "--input-shape", "3x64x64"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
}

TEST_F(Planning, MemoryIsKeptSmallToo) {
  const Finished done = paretoctl(
      planning("plan", {"--also", "memory", "--prefer", "memory", "--codec", "all", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json document = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("plan"), document), testing::IsEmpty());
  EXPECT_EQ(document["codecs"], json({"none", "zero-bitmap", "lz4", "zstd"}))
      << "all that lose nothing";
  const json& network = document["networks"][0];
  const auto memory = [&](std::size_t i) {
    return network["front"][i]["objectives"]["memory"].get<std::int64_t>();
  };
  for (std::size_t i = 0; i < network["front"].size(); ++i) {
    EXPECT_LE(memory(network["chosen"]), memory(i));
  }
  EXPECT_EQ(network["front"][network["chosen"].get<std::size_t>()]["plan"]["stages"].size(), 2U)
      << "two devices hold less of the model than one";
}

TEST_F(Planning, EnergyIsModelledFromThePowerOfEachDevice) {
  const Daemon first("first", folder());
  const Daemon second("second", folder());
  const auto with_powers = [&](const std::string& of_first, const std::string& of_second) {
    std::ofstream(path("powers.yaml"))
        << "devices:\n"
        << "  - {name: first, address: \"" << first.address() << "\"" << of_first << "}\n"
        << "  - {name: second, address: \"" << second.address() << "\"" << of_second << "}\n";
    return paretoctl(planning("plan", {"--devices", path("powers.yaml"), "--also", "energy",
                                       "--prefer", "energy", "--json"}));
  };
  const Finished unknown = with_powers(", power: 5W", "");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.errors, testing::AllOf(HasSubstr("device second"), HasSubstr("power: 5W")));

  const Finished done = with_powers(", power: 1kW", ", power: 1mW");
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json document = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("plan"), document), testing::IsEmpty());
  const json& network = document["networks"][0];
  const json& chosen = network["front"][network["chosen"].get<std::size_t>()];
  ASSERT_EQ(chosen["plan"]["stages"].size(), 1U);
  EXPECT_EQ(chosen["plan"]["stages"][0]["device"], "second") << "a millionth of the power";
  EXPECT_GT(chosen["objectives"]["energy"], 0);
}

TEST_F(Planning, AModelThatFitsOnNoDeviceIsSplit) {
  // To load the model takes 5.9 MiB, the part before features.9 and the rest about 3 each, and what
  // follows features.3 nearly all.
  const Daemon first("first", folder(), {"--memory-limit", "4MiB"});
  const Daemon second("second", folder(), {"--memory-limit", "4MiB"});
  const std::string devices = inventory({{"first", first.address()}, {"second", second.address()}});
  const Finished profiled = paretoctl(planning("profile", {"--devices", devices}));
  ASSERT_EQ(profiled.exit_code, 0) << profiled.errors;
  EXPECT_THAT(profiled.output,
              testing::ContainsRegex("the whole model +[0-9]+ B +no room +[0-9.]+ MiB +no room"));

  const Finished done = paretoctl(
      planning("plan", {"--devices", devices, "--save", path("plan.json"), "--all", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json document = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("plan"), document), testing::IsEmpty());
  const json& network = document["networks"][0];
  ASSERT_FALSE(network["front"].empty());
  for (const json& point : network["front"]) {
    EXPECT_EQ(point["plan"]["splits"], json({"after:features.9"}));
  }
  EXPECT_EQ(network["plans"].size(), 2U) << "that cut, with either device first";

  const Finished run =
      paretoctl({"run", "--plan", path("plan.json"), "--devices", devices, "--requests", "3",
                 "--json", "--num-classes", "10", "--input-shape", "3x64x64"});
  EXPECT_EQ(run.exit_code, 0) << run.errors;
}

TEST_F(Planning, ADeviceWithoutRoomForAnyPartIsNamed) {
  const Daemon tiny("tiny", folder(), {"--memory-limit", "100KiB"});
  const Finished refused =
      paretoctl(planning("plan", {"--devices", inventory({{"tiny", tiny.address()}})}));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("tiny has no room for any part of squeezenet1_0"));
  EXPECT_THAT(refused.errors, HasSubstr("its memory limit is 100 KiB; raise --memory-limit"));
}

TEST_F(Planning, NetworksThatAreNotThereArePredictedFromTheirDefinition) {
  const std::string lte = std::string(PARETO_SOURCE_DIR) + "/configs/network/lte.yaml";
  const Finished done = paretoctl(
      planning("plan", {"--json", "--all", "--network", "none," + lte, "--by-definition"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json document = json::parse(done.output);
  const json& none = document["networks"][0]["plans"];
  const json& far = document["networks"][1]["plans"];
  ASSERT_EQ(none.size(), far.size());
  for (std::size_t i = 0; i < none.size(); ++i) {
    const bool alone = none[i]["plan"]["stages"].size() == 1;
    const bool first = none[i]["plan"]["stages"][0]["device"] == "local-0";
    const double more =
        far[i]["unloaded_latency_ms"].get<double>() - none[i]["unloaded_latency_ms"].get<double>();
    if (alone && first) continue;  // it has no such link, and was probed twice
    EXPECT_GE(more, 25) << "both ways at least once: " << none[i]["plan"];
  }
}

TEST_F(Planning, ProfilesAreKept) {
  const Finished first = paretoctl(planning("profile", {"--json"}));
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_THAT(first.errors, HasSubstr("profiling 2 devices"));
  const json document = json::parse(first.output);
  EXPECT_THAT(violations(golden_schema("profile"), document), testing::IsEmpty());
  ASSERT_EQ(document["devices"].size(), 2U);
  EXPECT_EQ(document["links"].size(), 6U) << "between two devices and the coordinator, both ways";
  for (const json& link : document["links"]) EXPECT_FALSE(link["points"].empty());

  const Finished again = paretoctl(planning("profile", {"--json"}));
  ASSERT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors, testing::Not(HasSubstr("profiling 2 devices")));
  EXPECT_EQ(json::parse(again.output)["devices"], document["devices"]);

  const Finished fresh = paretoctl(planning("profile", {"--fresh"}));
  ASSERT_EQ(fresh.exit_code, 0) << fresh.errors;
  EXPECT_THAT(fresh.errors, HasSubstr("profiling 2 devices"));
  EXPECT_THAT(fresh.output, HasSubstr("the whole model"));
}

TEST_F(Planning, WithoutSplitsModelsAreCutAnywhereThatCanBeSearched) {
  const auto plan = [this](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"plan",   "--store",         path("results.db"),
                                       "--json", "--measured-cuts", "2"};
    const std::vector<std::string> model = small_model();
    arguments.insert(arguments.end(), model.begin(), model.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished done = paretoctl(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return json::parse(done.output)["networks"][0];
  };
  const json anywhere = plan({"--transport", "tcp"});
  EXPECT_EQ(anywhere["cuts"], "ideals");
  EXPECT_EQ(anywhere["plans"].size(), 2U) << "each device alone";
  EXPECT_EQ(plan({"--transport", "tcp", "--splits", "modules"})["cuts"], "order");
}

}  // namespace
}  // namespace pareto::test
