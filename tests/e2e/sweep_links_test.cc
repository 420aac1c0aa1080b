// What crosses the links of a sweep: codecs, transports and weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/e2e/fixture.h"
#include "tests/e2e/sweep_fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;

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

}  // namespace
}  // namespace pareto::test
