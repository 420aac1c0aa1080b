#include "client/report/plan_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/json_schema.h"
#include "tests/support/objectives.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using planning::Evaluation;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

plan::Plan split_plan() {
  plan::Plan plan;
  plan.model = "tiny";
  plan.splits = {"after:relu"};
  plan.stages = {{"pi-1", 0, 3}, {"pi-2", 3, 5}};
  plan.set_transports({"shm", "tcp", "tcp"});
  plan.codecs = {"int8"};
  return plan;
}

plan::Plan replicas_plan() {
  plan::Plan plan;
  plan.model = "tiny";
  plan.replicated = true;
  plan.stages = {{"pi-1", 0, 5}, {"pi-2", 0, 5}};
  return plan;
}

plan::Plan whole_plan() {
  plan::Plan plan;
  plan.model = "tiny";
  plan.stages = {{"pi-1", 0, 5}};
  return plan;
}

Evaluation evaluation(std::int64_t latency_ms, std::int64_t bottleneck_ms) {
  Evaluation evaluation;
  evaluation.latency = milliseconds(latency_ms);
  evaluation.bottleneck = milliseconds(bottleneck_ms);
  test::value_of(evaluation, "energy") = 25'000'000'000;  // of batches of two
  test::value_of(evaluation, "memory") = 3 << 20;
  test::value_of(evaluation, "loss") = 1234;
  return evaluation;
}

/// Batches of two; one point of a split plan and one where two devices take turns.
PlanReport report() {
  PlanReport report;
  report.model = "tiny";
  report.known = planning::searched_objectives();
  report.transports = {"shm", "tcp"};
  report.codecs = {"none", "int8"};
  report.batch = 2;
  report.preference = "balanced";
  planning::Outlook outlook;
  outlook.condition = "wifi";
  outlook.front = {{split_plan(), {milliseconds(10), 3}, evaluation(10, 4)},
                   {replicas_plan(), {milliseconds(20), 8}, evaluation(20, 5)}};
  outlook.chosen = 0;
  report.outlooks = {outlook};
  return report;
}

json parsed(const PlanReport& report) {
  json document = json::parse(write_plan_json(report));
  EXPECT_THAT(test::violations(test::golden_schema("plan"), document), IsEmpty());
  return document;
}

TEST(PlanTable, ShowsWhatLinksChose) {
  const std::string text = write_plan_table(report(), {});
  EXPECT_THAT(text, AllOf(HasSubstr("Predicted Pareto front, shm or tcp, batch 2, wifi"),
                          HasSubstr("shm+tcp+tcp"), HasSubstr("int8"), HasSubstr("1234"),
                          HasSubstr("600.0"), HasSubstr("pi-1 > pi-2"),
                          HasSubstr("* balanced: the plan to take")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("modelled")), Not(HasSubstr("beaten by"))));
}

TEST(PlanTable, TellsTheLatencyOfALoneRequestFromThatWithSeveralInFlight) {
  PlanReport plain = report();
  plain.transports = {"tcp"};
  plain.codecs = {"none"};
  plain.outlooks[0].front = {{split_plan(), {milliseconds(73), 2}, evaluation(53, 36)}};
  EXPECT_THAT(write_plan_table(plain, {}),
              AllOf(testing::ContainsRegex("lone ms +ms at W +samples/s +W "),
                    testing::ContainsRegex("pi-1 > pi-2 +53.00 +73.00 +54.79 +2 "),
                    HasSubstr("--max-latency limits this one\n")));
  const json document = parsed(plain);
  const json& point = document["networks"][0]["front"][0];
  EXPECT_DOUBLE_EQ(point["unloaded_latency_ms"], 53);
  EXPECT_DOUBLE_EQ(point["latency_ms"], 73);
  EXPECT_EQ(point["window"], 2);
  const std::string narrow = write_plan_table(plain, {.width = 60});
  std::istringstream text(narrow.substr(narrow.find("lone ms:")));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 60U) << line;
}

TEST(PlanTable, ShowsSettingsThatPlansDifferIn) {
  PlanReport settings = report();
  plan::Plan& split = settings.outlooks[0].front[0].plan;
  split.settings.threads = 1;
  split.stages[1].settings = plan::StageSettings{"auto", "fp32", 2, 0, "clusters"};
  const std::string text = write_plan_table(settings, {});
  EXPECT_THAT(text, AllOf(testing::ContainsRegex("codec +threads +schedule +lone ms"),
                          testing::ContainsRegex("int8 +1\\+2 +sequential\\+clusters +10.00"),
                          testing::ContainsRegex("none +0 +sequential +20.00")));
  const json point = parsed(settings)["networks"][0]["front"][0];
  EXPECT_EQ(point["plan"]["threads"], 1);
  EXPECT_EQ(point["plan"]["stages"][1]["settings"]["schedule"], "clusters");
  EXPECT_THAT(write_plan_table(report(), {}),
              AllOf(Not(HasSubstr("threads")), Not(HasSubstr("schedule"))));
}

TEST(PlanTable, LeavesOutColumnsOfWhatIsNotChosen) {
  PlanReport plain = report();
  plain.transports = {"tcp"};
  plain.codecs = {"none"};
  const std::string text = write_plan_table(plain, {});
  EXPECT_THAT(text,
              AllOf(Not(HasSubstr("transport")), Not(HasSubstr("codec")), Not(HasSubstr("ppm"))));
}

TEST(PlanTable, ExplainsCutsThatAreNumbersOfOperators) {
  PlanReport plain = report();
  EXPECT_THAT(write_plan_table(plain, {}), Not(HasSubstr("op:")));
  plain.outlooks[0].front[0].plan.splits = {"op:8:16-17"};
  EXPECT_THAT(write_plan_table(plain, {}),
              HasSubstr("op:8:16-17: operator 16, of another branch, runs before the cut too"));
}

TEST(PlanTable, NamesMediaAndWhoHasThem) {
  PlanReport plain = report();
  EXPECT_THAT(write_plan_table(plain, {}), Not(HasSubstr("Media")));
  EXPECT_EQ(parsed(plain)["media"], json::array());
  plain.media = {{"lte", {"pi-3"}}, {"wifi", {"pi-1", "pi-2"}}};
  EXPECT_THAT(write_plan_table(plain, {}),
              HasSubstr("Media: lte (pi-3 alone), wifi (pi-1, pi-2)\n"));
  EXPECT_EQ(parsed(plain)["media"][1], json({{"name", "wifi"}, {"devices", {"pi-1", "pi-2"}}}));
}

TEST(PlanTable, NamesAllReplicas) {
  EXPECT_THAT(write_plan_table(report(), {}), AllOf(HasSubstr("all on pi-1 and pi-2 in turns"),
                                                    HasSubstr("pi-1, pi-2"), HasSubstr("800.0")));
}

TEST(PlanTable, SaysThatNoPlanIsToBeTaken) {
  PlanReport without = report();
  without.outlooks[0].chosen.reset();
  EXPECT_THAT(write_plan_table(without, {}), HasSubstr("No plan keeps the limits"));
  without.outlooks[0].front.clear();
  EXPECT_THAT(write_plan_table(without, {}),
              AllOf(HasSubstr("No plan is possible"), Not(HasSubstr("keeps the limits"))));
}

TEST(PlanTable, NamesTheOtherObjectives) {
  PlanReport both = report();
  both.also = {&test::objective("energy"), &test::objective("network_bytes")};
  EXPECT_THAT(write_plan_table(both, {}),
              AllOf(HasSubstr("of latency, throughput, modelled energy, bytes on all links, "),
                    HasSubstr("energy mJ"), HasSubstr("12.50"), HasSubstr("network_bytes")));
  EXPECT_THAT(write_plan_table(report(), {}), Not(HasSubstr("energy")));
}

TEST(PlanTable, ListsEachCandidateOnceTheBestOnesFirst) {
  PlanReport all = report();
  all.pairs = true;
  const auto on = [](const char* device) {
    plan::Plan plan = whole_plan();
    plan.stages.front().device = device;
    return plan;
  };
  all.outlooks[0].candidates = {
      {on("slow"), evaluation(50, 50), {{{milliseconds(50), 1}, 0}, {{milliseconds(51), 2}, 0}}},
      {on("beaten"), evaluation(10, 10), {{{milliseconds(10), 1}, 0}}},
      {on("best"), evaluation(40, 40), {{{milliseconds(40), 1}, {}}, {{milliseconds(41), 2}, 0}}}};
  const std::string text = write_plan_table(all, {});
  const std::string list = text.substr(text.find("Every plan of one or two devices"));
  const auto at = [&](const std::string& name) { return list.find("all on " + name + " "); };
  EXPECT_LT(at("best"), at("beaten"));
  EXPECT_LT(at("beaten"), at("slow"));
  for (const char* name : {"best", "beaten", "slow"}) {
    EXPECT_EQ(list.find("all on " + std::string(name) + " ", at(name) + 1), std::string::npos);
  }
  EXPECT_THAT(list.substr(at("best"), list.find('\n', at("best")) - at("best")),
              Not(HasSubstr("41.00")))
      << "the point that is beaten";
}

TEST(PlanTable, ListsCandidatesAndWhatBeatsThem) {
  PlanReport all = report();
  all.pairs = true;
  all.outlooks[0].candidates = {{whole_plan(),
                                 evaluation(30, 30),
                                 {{{milliseconds(30), 1}, 0}, {{milliseconds(31), 2}, {}}}}};
  EXPECT_THAT(write_plan_table(all, {}),
              AllOf(HasSubstr("beaten by"), HasSubstr("all on pi-1"), HasSubstr("30.00")));
  const json document = parsed(all);
  ASSERT_EQ(document["networks"][0]["plans"].size(), 1U);
  EXPECT_DOUBLE_EQ(document["networks"][0]["plans"][0]["latency_ms"], 30);
  EXPECT_DOUBLE_EQ(document["networks"][0]["plans"][0]["samples_per_s"], 2 / 0.030);
  const json& points = document["networks"][0]["plans"][0]["points"];
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0]["beaten_by"], 0);
  EXPECT_EQ(points[1]["beaten_by"], nullptr);
  EXPECT_EQ(points[1]["window"], 2);
  EXPECT_DOUBLE_EQ(points[1]["samples_per_s"], 2 * 2 / 0.031);
  all.pairs = false;
  EXPECT_THAT(write_plan_table(all, {}), HasSubstr("Each device alone"));
}

TEST(PlanTable, SaysWhyAModelIsCutInItsOrder) {
  PlanReport in_order = report();
  in_order.outlooks[0].why_in_order = "the graph has more than 7 ideals";
  EXPECT_THAT(write_plan_table(in_order, {}),
              HasSubstr("Cut in the model's order: the graph has more than 7 ideals"));
  EXPECT_EQ(parsed(in_order)["networks"][0]["cuts"], "order");
  PlanReport anywhere = report();
  anywhere.outlooks[0].cut_anywhere = true;
  EXPECT_THAT(write_plan_table(anywhere, {}), Not(HasSubstr("order")));
  EXPECT_EQ(parsed(anywhere)["networks"][0]["cuts"], "ideals");
}

TEST(PlanTable, ShowsWhatJitterLeaves) {
  EXPECT_THAT(write_plan_table(report(), {}), Not(HasSubstr("jitter")));
  PlanReport jittered = report();
  jittered.outlooks[0].front.push_back(jittered.outlooks[0].front[0]);
  jittered.outlooks[0].front[0].with_jitter =
      planning::ReplayOutcome{3, 250, milliseconds(12), milliseconds(17), 5.0 / 6};
  const std::string text = write_plan_table(jittered, {});
  EXPECT_THAT(text, AllOf(HasSubstr("with jitter\n"), HasSubstr("12.00 ms, 500.0/s\n"),
                          HasSubstr("600.0"), HasSubstr("with jitter: median latency")))
      << "batches of two";
  const json front = parsed(jittered)["networks"][0]["front"];
  const json expected{{"latency_p50_ms", 12.0},
                      {"latency_p95_ms", 17.0},
                      {"samples_per_s", 500.0},
                      {"share", 5.0 / 6}};
  EXPECT_EQ(front[0]["with_jitter"], expected);
  EXPECT_DOUBLE_EQ(front[0]["samples_per_s"], 600);
  EXPECT_FALSE(front[1].contains("with_jitter")) << "of devices whose jitter is not known";
}

TEST(PlanJson, KeepsItsSchema) {
  PlanReport energy = report();
  energy.also = {&test::objective("energy")};
  const json document = parsed(energy);
  EXPECT_EQ(document["also"], json({"energy"}));
  const json& network = document["networks"][0];
  EXPECT_EQ(network["front"][0]["plan"]["transports"], json({"shm", "tcp", "tcp"}));
  EXPECT_EQ(network["front"][0]["plan"]["codecs"], json({"int8"}));
  EXPECT_DOUBLE_EQ(network["front"][0]["objectives"]["energy"], 12.5);
  EXPECT_EQ(network["front"][0]["objectives"]["loss"], 1234);
  EXPECT_EQ(network["front"][1]["plan"]["replicas"], true);

  PlanReport none = report();
  none.outlooks[0].front.clear();
  none.outlooks[0].chosen.reset();
  const json empty = parsed(none);
  EXPECT_EQ(empty["also"], json::array());
  EXPECT_EQ(empty["networks"][0]["chosen"], nullptr);
  energy.known = {&test::objective("memory")};
  EXPECT_FALSE(parsed(energy)["networks"][0]["front"][0]["objectives"].contains("energy"))
      << "of devices whose power nobody said";
}

TEST(PlanTable, AccuracyStandsNextToThePlansThatHaveIt) {
  PlanReport judged = report();
  EXPECT_FALSE(parsed(judged).contains("left_out"));
  judged.accuracies = {{{200, 150, 190, 160, true}, {200, 160, 200, 160, false}}};
  judged.left_out = {"after:x by fp16: top-1 is 12 %"};
  const json document = parsed(judged);
  EXPECT_EQ(document["networks"][0]["front"][0]["accuracy"]["top1"], 0.75);
  EXPECT_EQ(document["networks"][0]["front"][1]["accuracy"]["was_run"], false);
  EXPECT_EQ(document["left_out"].size(), 1U);
  EXPECT_THAT(write_plan_table(judged, {}),
              AllOf(HasSubstr("75.00 %"), HasSubstr("= 80.00 %"),
                    HasSubstr("too inaccurate: after:x by fp16: top-1 is 12 %")));
}

}  // namespace
}  // namespace pareto::report
