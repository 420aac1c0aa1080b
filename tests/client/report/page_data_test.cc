#include "client/report/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/report/plan_text.h"
#include "coordinator/results/record_json.h"
#include "coordinator/results/shown_figure.h"
#include "core/base/text.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::DoubleNear;
using testing::ElementsAre;

json data_of(const results::RunRecord& run) {
  return json::parse(page_data(test::with_objectives(run)));
}

/// Returns a plan of two stages, three requests, each part of its own size.
results::RunRecord run_of_known_requests() {
  results::RunRecord run = test::synthetic_run(
      {.transports = {"tcp"}, .batches = {1}, .split_points = 1, .with_failure = false});
  results::TrialRecord& trial = run.trials.front();
  results::TrialRound round;
  round.latency_ms = {10, 30, 20};
  round.sink_receive_ms = {0.1, 0.3, 0.2};
  round.stages.resize(2);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    const double times = stage == 0 ? 1 : 10;
    round.stages[stage] = {{3 * times, 5 * times, 4 * times},
                           {0.01 * times, 0.03 * times, 0.02 * times},
                           {0.1 * times, 0.3 * times, 0.2 * times},
                           {0.001 * times, 0.003 * times, 0.002 * times}};
    trial.stages[stage].receive_p50_ms = 0.2 * times;
  }
  trial.rounds = {round};
  trial.latency.measured_p50_ms = 19;
  trial.latency.p90_ms = 27;
  trial.latency.p99_ms = 29.9;
  trial.links = {{1.2, 100}, {4, 200}, {2.2, 300}};
  return run;
}

TEST(PageData, KeepsTheRequestsNearestToTheFigures) {
  const json trial = data_of(run_of_known_requests())["trials"][0];
  const auto near = [](double value) { return DoubleNear(value, 1e-6); };
  // Half the round trips: 1.2 - 0.2, 4 - 2, 2.2 - 0.2 ms; each request with its own time to receive
  // next to them.
  EXPECT_THAT(trial["requests"]["p50"].get<std::vector<double>>(),
              ElementsAre(near(20), near(1.2), near(0.02), near(4), near(0.002), near(4), near(0.2),
                          near(40), near(0.02), near(2.2)));
  EXPECT_THAT(trial["requests"]["p99"].get<std::vector<double>>(),
              ElementsAre(near(30), near(1.3), near(0.03), near(5), near(0.003), near(5), near(0.3),
                          near(50), near(0.03), near(2.3)));
  EXPECT_EQ(trial["requests"]["p90"], trial["requests"]["p99"]);
}

TEST(PageData, KeepsNoRequestThatIsNotWhole) {
  results::RunRecord run = run_of_known_requests();
  run.trials[0].rounds[0].stages[1].encode_ms.pop_back();
  EXPECT_FALSE(data_of(run)["trials"][0].contains("requests"));
  results::TrialRound whole = run_of_known_requests().trials[0].rounds[0];
  whole.latency_ms = {11, 31, 21};
  run.trials[0].rounds.push_back(whole);
  EXPECT_EQ(data_of(run)["trials"][0]["requests"]["p50"][0], 21) << "another round has them";
  run.trials[0].links.pop_back();
  EXPECT_FALSE(data_of(run)["trials"][0].contains("requests"));
}

TEST(PageData, HoldsEveryPlanAsItsFileDoes) {
  results::RunRecord run = test::synthetic_chain_sweep();
  run.trials[1].plan.codecs = {"fp16"};
  run.trials[2].plan.settings.engine = "plain";
  const json data = data_of(run);
  ASSERT_FALSE(data["plan"].empty()) << "what all plans have in common stands once";
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    // As client/report/assets/plan_file.js puts it together.
    const json& trial = data["trials"][i];
    json plan = data["plan"];
    plan.update(trial["plan"]);
    plan["batch"] = trial["batch"];
    plan["splits"] = json::array();
    if (!trial["split"].is_null()) {
      for (const json& cut : trial["split"]["cuts"]) plan["splits"].push_back(cut["name"]);
    }
    EXPECT_EQ(plan, json::parse(to_json(run.trials[i].plan))) << trial["id"];
  }
}

TEST(PageData, RoundsNoFigureThatIsRoundedAgain) {
  results::RunRecord run = run_of_known_requests();
  // To six digits it is 20.365, which is a little less than the middle: 20.36.
  const double measured = 20.3650004;
  run.trials[0].latency.measured_p50_ms = measured;
  run.trials[0].latency.p50_ms = results::shown_figure(measured);
  run.trials[0].latency.p90_ms = 1234567.8912;
  const json latency = data_of(run)["trials"][0]["latency_ms"];
  EXPECT_EQ(format_figure(latency["measured_p50"].get<double>()), format_figure(measured));
  EXPECT_EQ(format_figure(latency["measured_p50"].get<double>()),
            format_figure(latency["p50"].get<double>()));
  EXPECT_EQ(latency["p90"], 1234568) << "no more digits than are shown";
}

TEST(PageData, IsTheDocumentOfASweepMadeSmaller) {
  const results::RunRecord run = test::synthetic_network_sweep();
  const json data = data_of(run);
  const json document = json::parse(to_json(run).dump());
  for (const char* key : {"run", "command_line", "options", "devices", "front", "note", "seed"}) {
    EXPECT_EQ(data[key], document[key]) << key;
  }
  ASSERT_EQ(data["trials"].size(), document["trials"].size());
  for (std::size_t i = 0; i < data["trials"].size(); ++i) {
    const json& trial = data["trials"][i];
    EXPECT_EQ(trial["id"], document["trials"][i]["id"]);
    EXPECT_EQ(trial["plan"]["stages"].size(), document["trials"][i]["plan"]["stages"].size());
    EXPECT_FALSE(trial.contains("network"));
    if (trial["status"] != "ok") continue;
    const double p50 = document["trials"][i]["latency_ms"]["p50"];
    EXPECT_NEAR(trial["latency_ms"]["p50"].get<double>(), p50, p50 * 1e-5);
  }
  EXPECT_LT(data.dump().size(), document.dump().size());
  // What a link was measured to be like stands with its network, once.
  const auto entry = std::ranges::find_if(
      data["networks"], [](const json& network) { return network["condition"] == "4-near"; });
  EXPECT_EQ((*entry)["network"]["round_trip_ms"], 4.1);
  EXPECT_FALSE(data_of(test::synthetic_run())["networks"][0].contains("network"));
}

}  // namespace
}  // namespace pareto::report
