#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/client/report/written_reports.h"
#include "tests/support/json_schema.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::Not;

TEST(JsonWriter, FollowsTheGoldenSchema) {
  for (const results::RunRecord& run : all_kinds_of_runs()) {
    EXPECT_THAT(test::violations(sweep_schema(), json::parse(written("json", run))), IsEmpty());
  }
}

TEST(AdaptiveRun, JsonTellsPredictedFromMeasured) {
  const results::RunRecord run = test::synthetic_adaptive_sweep();
  const json document = json::parse(written("json", run));
  EXPECT_THAT(test::violations(sweep_schema(), document), IsEmpty());
  EXPECT_EQ(document["trials"][0]["status"], "predicted");
  EXPECT_FALSE(document["trials"][0].contains("latency_ms"));
  EXPECT_EQ(document["trials"][1]["status"], "ok");
  EXPECT_EQ(document["trials"][1]["predicted"]["latency_deviation"], 0.02);
  EXPECT_EQ(document["trials"][1]["predicted"]["window"], 4);
  EXPECT_NEAR(document["prediction_errors"][0]["latency"]["median"].get<double>(), 0.05, 0.005);
  json bad = document;
  bad["trials"][0].erase("predicted");
  EXPECT_THAT(test::violations(sweep_schema(), bad), Not(IsEmpty()));
  bad = document;
  bad["trials"][0]["predicted"].erase("expected_latency_ms");
  EXPECT_THAT(test::violations(sweep_schema(), bad), Not(IsEmpty()));
}

TEST(JsonWriter, WhatOfANetworkWasNotMeasuredIsNull) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  results::NetworkFigures& network = run.trials.at(0).network.emplace();
  network.round_trip_ms = 3;
  network.emulator = "devices";
  const json document = json::parse(written("json", run));
  EXPECT_THAT(test::violations(sweep_schema(), document), IsEmpty());
  const json& told = document["trials"][0]["network"];
  EXPECT_EQ(told["round_trip_ms"], 3);
  for (const char* unknown : {"round_trip_deviation_ms", "forward_loss", "backward_loss"}) {
    EXPECT_TRUE(told[unknown].is_null()) << unknown;
  }
}

TEST(JsonWriter, TheSchemaWouldNoticeEveryMissingOrStrangeField) {
  const json good = json::parse(written("json", test::synthetic_run({.batches = {1}})));
  ASSERT_THAT(test::violations(sweep_schema(), good), IsEmpty());
  for (const auto& [name, value] : good.items()) {
    json bad = good;
    bad.erase(name);
    EXPECT_THAT(test::violations(sweep_schema(), bad), Not(IsEmpty())) << name;
  }
  for (const auto& [name, value] : good["trials"][0].items()) {
    json bad = good;
    bad["trials"][0].erase(name);
    EXPECT_THAT(test::violations(sweep_schema(), bad), Not(IsEmpty())) << name;
    bad = good;
    bad["trials"][0][name] = json::object({{"strange", -1}});
    EXPECT_THAT(test::violations(sweep_schema(), bad), Not(IsEmpty())) << name;
  }
  for (const char* path : {"/extra", "/trials/0/extra", "/trials/0/latency_ms/extra",
                           "/trials/0/stages/0/extra", "/devices/0/extra", "/networks/0/extra"}) {
    json bad = good;
    bad[json::json_pointer(path)] = 1;
    EXPECT_THAT(test::violations(sweep_schema(), bad), Not(IsEmpty())) << path;
  }
}

TEST(JsonWriter, HoldsTheFiguresOfTheRun) {
  const results::RunRecord run = test::synthetic_run();
  const json document = json::parse(written("json", run));
  ASSERT_EQ(document["trials"].size(), run.trials.size());
  const results::TrialRecord& trial = run.trials[24];
  const json& shown = document["trials"][24];
  EXPECT_EQ(shown["id"], trial.id);
  EXPECT_EQ(shown["split"]["name"], trial.split->name);
  EXPECT_EQ(shown["split"]["boundary"][0]["shape"],
            json(trial.split->boundary[0].shape(trial.batch)));
  EXPECT_EQ(shown["latency_ms"]["p50"], trial.latency.p50_ms);
  EXPECT_EQ(shown["latency_ms"]["p95"], trial.latency.p95_ms);
  EXPECT_EQ(shown["latency_ms"]["ci95"],
            json({trial.latency.ci95_ms.low, trial.latency.ci95_ms.high}));
  EXPECT_EQ(shown["throughput"]["samples_per_s"], trial.throughput.samples_per_s);
  EXPECT_EQ(shown["stages"][1]["compute_ms"]["p50"], trial.stages[1].compute_p50_ms);
  EXPECT_EQ(shown["plan"]["stages"][0]["device"], "pi-1");
  EXPECT_TRUE(document["trials"][19]["split"].is_null()) << "a one-device plan";
  double last = 0;
  for (const json& id : document["front"]) {
    for (const json& candidate : document["trials"]) {
      if (candidate["id"] != id) continue;
      EXPECT_TRUE(candidate["on_front"]);
      EXPECT_GE(candidate["latency_ms"]["p50"].get<double>(), last);
      last = candidate["latency_ms"]["p50"];
    }
  }
  EXPECT_GT(last, 0);
}

TEST(JsonWriter, TellsEveryCutOfALongerChain) {
  const results::RunRecord run = test::synthetic_chain_sweep();
  const json document = json::parse(written("json", run));
  const json& shown = document["trials"][0];
  ASSERT_EQ(shown["stages"].size(), 3U);
  ASSERT_EQ(shown["links"].size(), 4U);
  ASSERT_EQ(shown["split"]["cuts"].size(), 2U);
  EXPECT_EQ(shown["split"]["cuts"][1]["name"], "after:avgpool");
  EXPECT_EQ(shown["split"]["cuts"][1]["boundary"],
            json::parse(R"([{"dtype": "float32", "shape": [1, 392]}])"));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(shown["split"]["cuts"][i]["boundary_bytes"], shown["links"][i + 1]["bytes"]);
    EXPECT_EQ(shown["split"]["cuts"][i]["position"], shown["plan"]["stages"][i]["end"]);
  }
}

TEST(JsonWriter, NamesTheBestTrialsOfEveryNetwork) {
  const json document = json::parse(written("json", test::synthetic_network_sweep()));
  ASSERT_EQ(document["networks"].size(), 22U) << "11 conditions at two batches";
  const json& first = document["networks"][0];
  EXPECT_EQ(first["condition"], "none");
  EXPECT_EQ(first["batch"], 1);
  EXPECT_EQ(first["round_trip_ms"], 0.08);
  EXPECT_EQ(first["forward_bits_per_s"], 1870e6);
  EXPECT_EQ(first["measured"], 42);
  for (const char* best : {"fastest", "most_productive", "fastest_split", "most_productive_split",
                           "fastest_unsplit", "most_productive_unsplit"}) {
    const auto trial = std::ranges::find_if(
        document["trials"], [&](const json& candidate) { return candidate["id"] == first[best]; });
    ASSERT_NE(trial, document["trials"].end()) << best;
    EXPECT_EQ((*trial)["condition"], "none");
  }
  const json& lost = document["networks"][10];
  EXPECT_EQ(lost["condition"], "1-far");
  EXPECT_EQ(lost["failed"], lost["trials"]);
  EXPECT_TRUE(lost["fastest"].is_null());
  const json untouched = json::parse(written("json", test::synthetic_run()));
  EXPECT_TRUE(untouched["networks"][0]["round_trip_ms"].is_null()) << "it was not measured";
  EXPECT_TRUE(untouched["networks"][0]["forward_bits_per_s"].is_null());
}

}  // namespace
}  // namespace pareto::report
