#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/report/page_data.h"
#include "client/report/text_table.h"
#include "coordinator/results/best_by_network.h"
#include "coordinator/results/prediction_guide.h"
#include "coordinator/results/record_json.h"
#include "core/base/text.h"
#include "tests/client/report/written_reports.h"
#include "tests/support/json_schema.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  const json error = json::parse(written("json", run))["prediction_errors"][0];
  EXPECT_TRUE(error["no_guide"]);
  EXPECT_TRUE(error["throughput"]["no_guide"]);
  EXPECT_FALSE(error["latency"]["no_guide"]);
}

TEST(AdaptiveRun, NoReportHasAProbabilityOfAPlanThatNobodyKnowsItOf) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  for (results::TrialRecord& trial : run.trials) {
    trial.prediction->samples_per_s = 1e4 / trial.prediction->samples_per_s;
  }
  results::unsettle_unguided(run.trials);
  std::size_t only = 0;
  const json document = json::parse(written("json", run));
  for (const json& trial : document["trials"]) {
    if (trial["status"] == "predicted") ++only;
    EXPECT_EQ(trial["p_front"].is_null(), trial["status"] == "predicted") << trial["id"];
    EXPECT_EQ(trial["p_front_text"] == "-", trial["status"] == "predicted") << trial["id"];
  }
  EXPECT_GT(only, 0U);
  const std::string csv = written("csv", run);
  EXPECT_THAT(csv, HasSubstr(",,predicted,"));
  EXPECT_THAT(csv, Not(testing::ContainsRegex("[0-9],predicted,")));
}

TEST(AdaptiveRun, TableSaysOfNoPlanThatItWasPredictedOnlyIfAllWereMeasured) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  std::erase_if(run.trials, results::is_predicted_only);
  for (results::TrialRecord& trial : run.trials) {
    trial.prediction->samples_per_s = 1e4 / trial.prediction->samples_per_s;
  }
  EXPECT_THAT(written("table", run), AllOf(HasSubstr("\nbatch 1: predictions are no guide here\n"),
                                           Not(HasSubstr("predicted only"))));
}

TEST(AdaptiveRun, TableCountsOnlyWherePredictionsAreAGuide) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  const std::size_t guided = run.trials.size();
  std::size_t unguided = 0;
  for (std::size_t i = 0; i < guided; ++i) {
    results::TrialRecord other = run.trials[i];
    if (!results::is_predicted_only(other)) continue;
    other.id += "/misled";
    other.condition = "wifi";
    other.prediction->doubted = true;
    ++unguided;
    run.trials.push_back(std::move(other));
  }
  EXPECT_THAT(written("table", run),
              AllOf(HasSubstr(fmt::format(
                        "{} of {} plans were predicted only, 1 of them may be on the front, and "
                        "any of {} more where predictions are no guide (see below)\n",
                        2 * unguided, run.trials.size(), unguided)),
                    HasSubstr("wifi: predictions are no guide here: any plan")))
      << "a busy machine was profiled, and nothing was measured";
}

TEST(Table, HasAHeadingForASinglePlan) {
  results::RunRecord run = test::synthetic_run(
      {.transports = {"tcp"}, .batches = {1}, .split_points = 1, .with_failure = false});
  run.trials.resize(1);
  EXPECT_THAT(written("table", run), HasSubstr("The measured plan, batch 1 (* on the front)"));
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
  EXPECT_THAT(written("table", run), HasSubstr("time: 100 s, 6.0 % without a request on its way\n"
                                               "  measuring 92.0 %, reference plan 2.0 %,\n"
                                               "  loading shards 3.0 %,\n"
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
  EXPECT_THAT(test::violations(sweep_schema(), json::parse(written("json", run))), IsEmpty());
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
  EXPECT_THAT(test::violations(sweep_schema(), document), IsEmpty());
  const json& stage = document["trials"][two - run.trials.begin()]["stages"][1];
  EXPECT_EQ(stage["precision"], "fp32");
  EXPECT_EQ(stage["precision_reason"], two->stages[1].precision_reason);
  EXPECT_THAT(written("csv", run), HasSubstr("bf16+fp32"));
}

TEST(TableWriter, SaysWhichScheduleRanAndWhyItIsNotTheOneAskedFor) {
  results::RunRecord run = test::synthetic_run();
  const auto two = std::ranges::find_if(
      run.trials, [](const results::TrialRecord& trial) { return trial.stages.size() == 2; });
  ASSERT_NE(two, run.trials.end());
  two->plan.settings.schedule = "clusters";
  two->stages[0].schedule = "clusters";
  two->stages[1].schedule = "sequential";
  two->stages[1].schedule_reason = "clusters took 9.1 ms, one after the other 8.2 ms";
  const std::string text = written("table", run);
  EXPECT_THAT(text, HasSubstr("onednn clusters, onednn"));
  EXPECT_THAT(text, HasSubstr(two->stages[1].device + ": 1 of "));
  EXPECT_THAT(text, HasSubstr("it runs by sequential, because clusters took 9.1 ms"));
  const json document = json::parse(written("json", run));
  EXPECT_THAT(test::violations(sweep_schema(), document), IsEmpty());
  const json& trial = document["trials"][two - run.trials.begin()];
  EXPECT_EQ(trial["plan"]["schedule"], "clusters");
  EXPECT_EQ(trial["stages"][1]["schedule"], "sequential");
  EXPECT_EQ(trial["stages"][1]["schedule_reason"], two->stages[1].schedule_reason);
  EXPECT_THAT(written("csv", run), HasSubstr(",clusters+sequential,"));
}

TEST(TableWriter, SettingsThatPlansDifferInHaveColumns) {
  results::RunRecord run = test::synthetic_run({.transports = {"tcp"}, .batches = {1}});
  EXPECT_THAT(written("table", run), Not(HasSubstr("threads")));
  EXPECT_FALSE(json::parse(written("json", run))["trials"][0].contains("threads"));
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    run.trials[i].plan.settings.threads = i % 2 == 0 ? 1 : 2;
  }
  run.trials[0].plan.settings.schedule = "clusters";
  const std::string text = written("table", run);
  EXPECT_THAT(text, testing::ContainsRegex("plan +transport +threads +schedule +p50 ms"));
  EXPECT_THAT(text, testing::ContainsRegex("tcp +1 +clusters +[0-9]"));
  EXPECT_THAT(text, testing::ContainsRegex("tcp +2 +sequential +[0-9]"));
  const json document = json::parse(written("json", run));
  EXPECT_THAT(test::violations(sweep_schema(), document), IsEmpty());
  EXPECT_EQ(document["trials"][0]["threads"], "1");
  EXPECT_EQ(document["trials"][0]["schedule"], "clusters");
  EXPECT_EQ(document["trials"][1]["threads"], "2");
  EXPECT_EQ(json::parse(page_data(run))["trials"][1]["schedule"], "sequential");
  // Among networks the plan's name has them.
  results::RunRecord networks = test::synthetic_network_sweep();
  for (std::size_t i = 0; i < networks.trials.size(); ++i) {
    networks.trials[i].plan.settings.threads = i % 2 == 0 ? 1 : 2;
  }
  EXPECT_THAT(written("table", networks), HasSubstr(", threads 2"));
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

}  // namespace
}  // namespace pareto::report
