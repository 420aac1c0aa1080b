#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "client/report/page_data.h"
#include "client/report/report_writer.h"
#include "client/report/text_table.h"
#include "coordinator/results/best_by_network.h"
#include "coordinator/results/record_json.h"
#include "coordinator/results/simulated.h"
#include "core/base/text.h"
#include "tests/support/json_schema.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string written(std::string_view format, const results::RunRecord& run,
                    const ReportStyle& style = {}) {
  const auto writer = make_writer(format);
  EXPECT_TRUE(writer) << format;
  const auto text = (*writer)->write(test::with_objectives(run), style);
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

json schema() { return test::golden_schema("sweep"); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Runs as they may be found: whole, not yet measured, empty, and with names that no format may
/// stumble over.
std::vector<results::RunRecord> all_kinds_of_runs() {
  results::RunRecord planned = test::synthetic_run({.batches = {1}, .split_points = 2});
  planned.finished.clear();
  for (results::TrialRecord& trial : planned.trials) {
    trial.latency = {};
    trial.on_front = false;
    trial.status = results::TrialStatus::kOk;
  }
  results::RunRecord empty = planned;
  empty.trials.clear();
  empty.devices.clear();
  results::RunRecord odd = test::synthetic_run({.batches = {1}, .split_points = 2});
  odd.model = "</script><b>\"a\", 'b'\n\xff.pt";
  odd.trials[0].split->name = "{{js}}, \"quoted\" </script>";
  return {test::synthetic_run(),
          planned,
          empty,
          odd,
          test::synthetic_network_sweep(),
          test::synthetic_skipped_sweep(),
          test::synthetic_chain_sweep(),
          test::synthetic_adaptive_sweep()};
}

TEST(Writers, AllTakeEveryKindOfRun) {
  std::set<std::string_view> names;
  for (const auto& writer : builtin_writers()) {
    EXPECT_TRUE(names.insert(writer->name()).second);
    EXPECT_THAT(std::string(writer->summary()), Not(IsEmpty()));
    for (const results::RunRecord& run : all_kinds_of_runs()) {
      const auto text = writer->write(run, {});
      EXPECT_TRUE(text) << writer->name() << ": " << text.error().message;
    }
  }
  const auto unknown = make_writer("xml");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("table, json, csv, html"));
}

TEST(JsonWriter, FollowsTheGoldenSchema) {
  for (const results::RunRecord& run : all_kinds_of_runs()) {
    EXPECT_THAT(test::violations(schema(), json::parse(written("json", run))), IsEmpty());
  }
}

TEST(AdaptiveRun, JsonTellsPredictedFromMeasured) {
  const results::RunRecord run = test::synthetic_adaptive_sweep();
  const json document = json::parse(written("json", run));
  EXPECT_THAT(test::violations(schema(), document), IsEmpty());
  EXPECT_EQ(document["trials"][0]["status"], "predicted");
  EXPECT_FALSE(document["trials"][0].contains("latency_ms"));
  EXPECT_EQ(document["trials"][1]["status"], "ok");
  EXPECT_EQ(document["trials"][1]["predicted"]["latency_deviation"], 0.02);
  EXPECT_EQ(document["trials"][1]["predicted"]["window"], 4);
  EXPECT_NEAR(document["prediction_errors"][0]["latency"]["median"].get<double>(), 0.05, 0.005);
  json bad = document;
  bad["trials"][0].erase("predicted");
  EXPECT_THAT(test::violations(schema(), bad), Not(IsEmpty()));
  bad = document;
  bad["trials"][0]["predicted"].erase("expected_latency_ms");
  EXPECT_THAT(test::violations(schema(), bad), Not(IsEmpty()));
}

TEST(AdaptiveRun, TableNamesTheUnmeasuredThatMayBeOnTheFrontAndCountsTheOthers) {
  const results::RunRecord run = test::synthetic_adaptive_sweep();
  const std::string table = written("table", run);
  const auto only = static_cast<std::size_t>(std::ranges::count_if(
      run.trials,
      [](const results::TrialRecord& trial) { return results::status_of(trial) == "predicted"; }));
  EXPECT_THAT(table, HasSubstr(fmt::format("{} of {} plans were predicted only, 1 of them", only,
                                           run.trials.size())));
  EXPECT_THAT(table, HasSubstr("paretoctl export " + run.id + " --csv)"));
  EXPECT_THAT(table, HasSubstr("perhaps on the front"));
  EXPECT_THAT(table, testing::ContainsRegex("compute +transfer +rest +"));
  EXPECT_THAT(table, HasSubstr("Predictions against what was measured"));
  EXPECT_THAT(table, testing::ContainsRegex(" 5 % +5 %( +-?[01]\\.[0-9]+){2} +4 % "));
  EXPECT_THAT(table, Not(HasSubstr("not measured:")));
}

TEST(AdaptiveRun, TableSaysWherePredictionsAreNoGuide) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  EXPECT_THAT(written("table", run), Not(HasSubstr("no guide")));
  for (results::TrialRecord& trial : run.trials) {
    trial.prediction->samples_per_s = 1e4 / trial.prediction->samples_per_s;
  }
  EXPECT_THAT(
      written("table", run),
      AllOf(HasSubstr("\nbatch 1: predictions are no guide here: any plan that was predicted "
                      "only may be on the front; sweep --exhaustive measures all\n"),
            HasSubstr(" plans were predicted only; any of them may be on the front: predictions "
                      "are no guide (see below)\n"),
            Not(HasSubstr("perhaps on the front"))))
      << "no figure of what predictions cannot say";
  EXPECT_TRUE(json::parse(written("json", run))["prediction_errors"][0]["throughput"]["no_guide"]);
}

TEST(AdaptiveRun, TableCountsOnlyWherePredictionsAreAGuide) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  const std::size_t guided = run.trials.size();
  std::size_t unguided = 0;
  for (std::size_t i = 0; i < guided; ++i) {
    results::TrialRecord other = run.trials[i];
    other.id += "/misled";
    other.condition = "wifi";
    other.prediction->samples_per_s = 1e4 / other.prediction->samples_per_s;
    unguided += results::status_of(other) == "predicted" ? 1 : 0;
    run.trials.push_back(std::move(other));
  }
  EXPECT_THAT(written("table", run),
              HasSubstr(fmt::format("{} of {} plans were predicted only, 1 of them may be on the "
                                    "front, and any of {} more where predictions are no guide "
                                    "(see below)\n",
                                    2 * unguided, run.trials.size(), unguided)));
}

TEST(Table, HasAHeadingForASinglePlan) {
  results::RunRecord run = test::synthetic_run(
      {.transports = {"tcp"}, .batches = {1}, .split_points = 1, .with_failure = false});
  run.trials.resize(1);
  EXPECT_THAT(written("table", run), HasSubstr("The measured plan, batch 1 (* on the front)"));
}

TEST(AdaptiveRun, CsvHasWhatIsExpected) {
  const std::string csv = written("csv", test::synthetic_adaptive_sweep());
  EXPECT_THAT(csv, HasSubstr("predicted_latency_ms,predicted_samples_per_s,predicted_window,"
                             "expected_latency_ms"));
  EXPECT_THAT(csv, HasSubstr(",0.4,predicted,"));
  EXPECT_THAT(csv, HasSubstr(",latency_p90_ms,latency_p95_ms,latency_p99_ms,"));
}

TEST(Csv, SaysWhatWasSimulated) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  EXPECT_THAT(written("csv", run), HasSubstr(",failure,simulated\r\n"));
  EXPECT_THAT(written("csv", run), Not(HasSubstr(",figures\r\n")));
  results::mark_simulated(run, results::Simulated::kFigures);
  EXPECT_THAT(written("csv", run), HasSubstr(",figures\r\n"));
  results::mark_simulated(run, results::Simulated::kPredictions);
  EXPECT_THAT(written("csv", run), HasSubstr(",predictions\r\n"));
}

TEST(Csv, TellsInfinitelyWrongFromNotKnown) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  ASSERT_GE(run.trials.size(), 2U);
  run.trials[0].output_error = results::OutputError{kInfinite, kInfinite, 0.25};
  const std::string csv = written("csv", run);
  EXPECT_THAT(csv, HasSubstr(",inf,inf,"));
}

TEST(JsonWriter, WhatOfANetworkWasNotMeasuredIsNull) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  results::NetworkFigures& network = run.trials.at(0).network.emplace();
  network.round_trip_ms = 3;
  network.emulator = "devices";
  const json document = json::parse(written("json", run));
  EXPECT_THAT(test::violations(schema(), document), IsEmpty());
  const json& told = document["trials"][0]["network"];
  EXPECT_EQ(told["round_trip_ms"], 3);
  for (const char* unknown : {"round_trip_deviation_ms", "forward_loss", "backward_loss"}) {
    EXPECT_TRUE(told[unknown].is_null()) << unknown;
  }
}

TEST(JsonWriter, TheSchemaWouldNoticeEveryMissingOrStrangeField) {
  const json good = json::parse(written("json", test::synthetic_run({.batches = {1}})));
  ASSERT_THAT(test::violations(schema(), good), IsEmpty());
  for (const auto& [name, value] : good.items()) {
    json bad = good;
    bad.erase(name);
    EXPECT_THAT(test::violations(schema(), bad), Not(IsEmpty())) << name;
  }
  for (const auto& [name, value] : good["trials"][0].items()) {
    json bad = good;
    bad["trials"][0].erase(name);
    EXPECT_THAT(test::violations(schema(), bad), Not(IsEmpty())) << name;
    bad = good;
    bad["trials"][0][name] = json::object({{"strange", -1}});
    EXPECT_THAT(test::violations(schema(), bad), Not(IsEmpty())) << name;
  }
  for (const char* path : {"/extra", "/trials/0/extra", "/trials/0/latency_ms/extra",
                           "/trials/0/stages/0/extra", "/devices/0/extra", "/networks/0/extra"}) {
    json bad = good;
    bad[json::json_pointer(path)] = 1;
    EXPECT_THAT(test::violations(schema(), bad), Not(IsEmpty())) << path;
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

TEST(CsvWriter, SaysWhatTheNetworkWasMeasuredToBeLike) {
  const results::RunRecord run = test::synthetic_network_sweep();
  const std::vector<std::string> lines = lines_of(written("csv", run));
  EXPECT_THAT(lines[0], HasSubstr(",condition,network_round_trip_ms,network_forward_mbit_per_s,"
                                  "network_backward_mbit_per_s,"));
  EXPECT_EQ(run.trials[0].condition, "20-far");
  EXPECT_THAT(lines[1], HasSubstr(",20-far,60.2,19.9,19.9,"));
  EXPECT_THAT(written("csv", test::synthetic_run()), HasSubstr(",none,,,,"));
}

TEST(CsvWriter, HasOneLineATrialWithOneCellAColumn) {
  for (const results::RunRecord& run : all_kinds_of_runs()) {
    const std::string text = written("csv", run);
    // Split as RFC 4180 says: separators inside quotes are text.
    std::vector<std::vector<std::string>> rows{{""}};
    bool inside = false;
    for (const char c : text) {
      if (c == '"') {
        inside = !inside;
      } else if (inside || (c != ',' && c != '\r' && c != '\n')) {
        rows.back().back() += c;
      } else if (c == ',') {
        rows.back().emplace_back();
      } else if (c == '\n') {
        rows.push_back({""});
      }
    }
    EXPECT_FALSE(inside);
    rows.pop_back();
    ASSERT_EQ(rows.size(), run.trials.size() + 1);
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size()) << join(row);
    const auto column = [&](const std::string& name) {
      return std::ranges::find(rows[0], name) - rows[0].begin();
    };
    for (std::size_t i = 0; i < run.trials.size(); ++i) {
      const results::TrialRecord& trial = run.trials[i];
      const auto& row = rows[i + 1];
      EXPECT_EQ(row[column("id")], trial.id);
      const std::vector<results::CutRecord> cuts =
          trial.split ? trial.split->cuts : std::vector<results::CutRecord>{};
      std::vector<std::string> positions;
      for (const results::CutRecord& cut : cuts)
        positions.push_back(fmt::format("{}", cut.position));
      EXPECT_EQ(row[column("cut_positions")], join(positions, "+"));
      EXPECT_EQ(row[column("latency_p50_ms")],
                trial.latency.samples > 0 ? fmt::format("{}", trial.latency.p50_ms) : "");
    }
  }
}

TEST(TableWriter, ShowsTheFrontEveryPlanAndEveryFailure) {
  const results::RunRecord run = test::synthetic_run();
  const std::string text = written("table", run);
  std::size_t on_front = 0;
  for (const results::TrialRecord& trial : run.trials) {
    EXPECT_THAT(text, HasSubstr(trial.split ? trial.split->name : "all on"));
    on_front += trial.on_front ? 1 : 0;
  }
  std::size_t marked = 0;
  for (const std::string& line : lines_of(text)) marked += line.starts_with("* ") ? 1 : 0;
  EXPECT_EQ(marked, on_front);
  EXPECT_THAT(text, HasSubstr("all on pi-2"));
  EXPECT_THAT(text, HasSubstr("Pareto front, batch 8"));
  EXPECT_THAT(text, HasSubstr("1.2 GiB is more than its limit of 1 GiB"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "no colours but on a terminal";
  EXPECT_THAT(written("table", run, {true, 0}), HasSubstr("\x1b[1;32m"));
}

TEST(TableWriter, FrontsComeInTheOrderOfTheirNetworksAndAreNamed) {
  const std::string text = written("table", test::synthetic_network_sweep());
  std::vector<std::string> fronts;
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("Pareto front, batch 1, ")) fronts.push_back(line.substr(23));
  }
  std::vector<std::string> networks;
  for (const results::NetworkBest& at : results::best_by_network(test::synthetic_network_sweep())) {
    if (at.batch != 1 || at.measured == 0) continue;
    networks.push_back(at.condition == "none" ? "network none" : at.condition);
  }
  ASSERT_GT(networks.size(), 2U);
  ASSERT_EQ(fronts.size(), networks.size());
  for (std::size_t i = 0; i < fronts.size(); ++i) {
    EXPECT_THAT(fronts[i], testing::StartsWith(networks[i] + ": "));
  }
}

TEST(TableWriter, NamesTheMostProductivePlanWithinALatency) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .with_failure = false});
  EXPECT_THAT(written("table", run), Not(HasSubstr("within")));
  std::vector<double> latencies;
  for (const results::TrialRecord& trial : run.trials) latencies.push_back(trial.latency.p50_ms);
  std::ranges::sort(latencies);
  const double most_ms = latencies[latencies.size() / 3];
  run.options_json = fmt::format(R"({{"max_latency_ms":{}}})", most_ms);
  const results::TrialRecord* best = nullptr;
  for (const results::TrialRecord& trial : run.trials) {
    if (trial.latency.p50_ms > most_ms) continue;
    if (best == nullptr || trial.throughput.samples_per_s > best->throughput.samples_per_s) {
      best = &trial;
    }
  }
  ASSERT_NE(best, nullptr);
  EXPECT_THAT(written("table", run),
              HasSubstr(fmt::format("within {:.4g} ms, batch 1: {} over {} has the highest "
                                    "throughput",
                                    most_ms, best->split->name, best->transport)));
  run.options_json = R"({"max_latency_ms":0.001})";
  EXPECT_THAT(written("table", run), HasSubstr("within 0.001 ms, batch 1: no plan is as quick"));
}

TEST(TableWriter, SaysOnceWhyANetworkWasSkipped) {
  const std::string table = written("table", test::synthetic_skipped_sweep());
  const std::string line = "skipped: 84 of 924 plans: network 1-far: 0.8 Mbit/s of 1\n";
  const std::size_t at = table.find(line);
  ASSERT_NE(at, std::string::npos) << table.substr(table.size() - 2000);
  EXPECT_EQ(table.find("network 1-far", at + line.size()), std::string::npos);
  EXPECT_THAT(table, Not(HasSubstr("not measured: ")));
}

TEST(TableWriter, SaysWhereTheTimeWent) {
  results::RunRecord run = test::synthetic_run();
  EXPECT_THAT(written("table", run),
              HasSubstr("time: 100 s, 6.0 % without a request on its way\n"
                        "  measuring 92.0 %, sentinel 2.0 %, loading shards 3.0 %,\n"
                        "  opening 12 pipelines 1.0 % (p95 31.00 ms)\n"));
  for (results::PassRecord& pass : run.passes) pass.spent = {};
  EXPECT_THAT(written("table", run), Not(HasSubstr("time: "))) << "of versions that kept nothing";
}

TEST(TableWriter, SaysWhoElseUsedTheMachines) {
  results::RunRecord run = test::synthetic_run();
  EXPECT_THAT(written("table", run), Not(HasSubstr("figures vary")));
  run.passes.at(0).others = {{results::kThisMachine, 2, 0.61, 5.8, 30}};
  run.passes.at(0).company = {{"pi-1", 1, 2}};
  const std::string text = written("table", run);
  EXPECT_THAT(text,
              HasSubstr("this machine: load 5.8 on 2 cores, others used 61 %: figures vary\n"));
  EXPECT_THAT(text, HasSubstr("pi-1: another coordinator ran 2 pipelines here, in 1 of "));
  // The page has the same for a badge, and the document follows its schema.
  const json page = json::parse(page_data(test::with_objectives(run)));
  ASSERT_EQ(page["disturbances"].size(), 2U);
  EXPECT_EQ(page["disturbances"][0]["kind"], "busy");
  EXPECT_EQ(page["disturbances"][1]["where"], "pi-1");
  EXPECT_THAT(test::violations(schema(), json::parse(written("json", run))), IsEmpty());
}

TEST(TableWriter, SaysWhichPrecisionRanAndWhyItIsNotTheOneAskedFor) {
  results::RunRecord run = test::synthetic_run();
  const auto two = std::ranges::find_if(
      run.trials, [](const results::TrialRecord& trial) { return trial.stages.size() == 2; });
  ASSERT_NE(two, run.trials.end());
  two->stages[0].precision = "bf16";
  two->stages[1].precision = "fp32";
  two->stages[1].precision_reason = "bf16 is off by 7.2 % of the largest output, the limit is 5 %";
  const std::string text = written("table", run);
  EXPECT_THAT(text, HasSubstr("onednn bf16, onednn fp32"));
  EXPECT_THAT(text, HasSubstr(two->stages[1].device + ": 1 of "));
  EXPECT_THAT(text, HasSubstr("onednn computes it in fp32, because bf16 is off by 7.2 %"));
  const json document = json::parse(written("json", run));
  EXPECT_THAT(test::violations(schema(), document), IsEmpty());
  const json& stage = document["trials"][two - run.trials.begin()]["stages"][1];
  EXPECT_EQ(stage["precision"], "fp32");
  EXPECT_EQ(stage["precision_reason"], two->stages[1].precision_reason);
  EXPECT_THAT(written("csv", run), HasSubstr("bf16+fp32"));
}

TEST(TableWriter, ShowsWhatCrossesAtEveryCut) {
  results::RunRecord run = test::synthetic_chain_sweep();
  results::TrialRecord& trial = run.trials[0];
  const std::string crossing =
      format_bytes(trial.split->cuts[0].boundary_bytes) + " + " + format_bytes(1568);
  EXPECT_THAT(written("table", run), HasSubstr(crossing + "  "));
  trial.codec = "fp16";
  trial.links[1].wire_bytes = 2000;
  trial.links[2].wire_bytes = 800;
  EXPECT_THAT(written("table", run),
              HasSubstr(crossing + " > " + format_bytes(2000) + " + " + format_bytes(800)));
}

TEST(TableWriter, FitsTheTerminal) {
  const results::RunRecord run = test::synthetic_run();
  for (const int width : {60, 80, 100, 160}) {
    for (const std::string& line : lines_of(written("table", run, {false, width}))) {
      if (line.starts_with("failed:")) continue;
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
  }
  EXPECT_THAT(written("table", run, {false, 60}), HasSubstr("samples/s"));
}

TEST(TextTable, AlignsShortensAndDropsColumns) {
  TextTable table({{"name"}, {"n", Align::kRight}, {"note", Align::kLeft, 1}});
  table.add({"größer als gedacht", "1", "kept where there is room"});
  table.add({"a", "1000", ""});
  EXPECT_EQ(table.render({}),
            "name                   n  note\n"
            "größer als gedacht     1  kept where there is room\n"
            "a                   1000\n");
  EXPECT_EQ(table.render({false, 26}),
            "name                   n\n"
            "größer als gedacht     1\n"
            "a                   1000\n"
            "no room for: note (widen\n"
            "the terminal, or add |\n"
            "less -S)\n");
  EXPECT_EQ(table.render({.width = 20}, ""),
            "name               n\n"
            "größer als ge…     1\n"
            "a               1000\n"
            "no room for: note\n")
      << "no way out is known";
}

TEST(TextTable, LeavesOutFirstWhatRepeatsAndWhatIsAlike) {
  TextTable table({{"plan"},
                   {"link", Align::kLeft, 0, "", {}, true},
                   {"p50", Align::kRight, 0},
                   {"measured", Align::kRight, 1, "measured ms", 2},
                   {"wait", Align::kRight, 2}});
  table.add({"a", "tcp", "1.5", "1.5", "0.1"});
  table.add({"b", "tcp", "2.5", "2.5", "0.2"});
  EXPECT_EQ(table.render({false, 40}),
            "plan  link  p50  measured  wait\n"
            "a     tcp   1.5       1.5   0.1\n"
            "b     tcp   2.5       2.5   0.2\n");
  EXPECT_EQ(table.render({false, 30}),
            "plan  link  p50  wait\n"
            "a     tcp   1.5   0.1\n"
            "b     tcp   2.5   0.2\n"
            "not shown: measured ms (= p50)\n");
  EXPECT_EQ(table.render({false, 20}),
            "plan  p50  wait\n"
            "a     1.5   0.1\n"
            "b     2.5   0.2\n"
            "not shown: measured\n"
            "ms (= p50), link\n"
            "(tcp in every row)\n");
  // What tells rows apart stays.
  table.add({"c", "shm", "3.5", "3.6", "0.3"});
  EXPECT_THAT(table.render({false, 30}), testing::StartsWith("plan  link  p50  measured\n"));
}

TEST(TextTable, AColumnThatRepeatsAnotherCanBeRemoved) {
  TextTable table({{"device"}, {"address"}, {"state"}, {"again", Align::kLeft, 0, "", 2}});
  table.add({"10.0.0.1:7070", "10.0.0.1:7070", "well", "well"});
  TextTable named = table;
  named.add({"pi-1", "10.0.0.2:7070", "well", "well"});
  named.remove_if_repeated(1, 0);
  EXPECT_THAT(named.render({}),
              testing::StartsWith("device         address        state  again\n"));
  table.remove_if_repeated(1, 0);
  EXPECT_EQ(table.render({}),
            "device         state  again\n"
            "10.0.0.1:7070  well   well\n");
  EXPECT_EQ(table.render({.width = 25}),
            "device         state\n"
            "10.0.0.1:7070  well\n"
            "not shown: again (=\n"
            "state)\n");
}

TEST(TextTable, DropsColumnsThatBelongTogetherTogether) {
  TextTable table({{"at"},
                   {"best", Align::kLeft, 1},
                   {"ms", Align::kRight, 1, "ms of the best"},
                   {"widest column", Align::kLeft, 2}});
  table.add({"here", "a long name", "12.3", "x"});
  EXPECT_EQ(table.render({.width = 25}, ""),
            "at    best           ms\n"
            "here  a long name  12.3\n"
            "no room for: widest\n"
            "column\n");
  EXPECT_EQ(table.render({.width = 20}, ""),
            "at\n"
            "here\n"
            "no room for: best,\n"
            "ms of the best,\n"
            "widest column\n")
      << "a figure without its name would be another sentence";
}

TEST(HtmlWriter, IsOneFileThatFetchesNothing) {
  for (const results::RunRecord& run : all_kinds_of_runs()) {
    const std::string page = written("html", run);
    EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    std::size_t scripts = 0;
    for (std::size_t at = 0; (at = page.find("</script", at)) != std::string::npos; ++at) ++scripts;
    EXPECT_EQ(scripts, 4U) << "what the run says must not end a script";
    for (const char* fetch : {"src=\"http", "href=\"http", "@import", "url(http"}) {
      EXPECT_THAT(page, Not(HasSubstr(fetch)));
    }
    EXPECT_LT(page.size(), 3U << 20);
    const std::string open = "id=\"run\">";
    const std::size_t begin = page.find(open) + open.size();
    const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
    EXPECT_EQ(data, json::parse(page_data(test::with_objectives(run))));
  }
}

}  // namespace
}  // namespace pareto::report
