// What objectives say of the trials of a run, and fronts by those that somebody chooses.
#include "coordinator/statistics/objective_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace pareto::statistics {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// On two devices: `memory` of the first, 1 KiB on the link between.
results::TrialRecord trial(const std::string& id, double latency_ms, double samples_per_s,
                           std::uint64_t memory) {
  results::TrialRecord trial;
  trial.id = id;
  trial.latency.samples = 10;
  trial.latency.p50_ms = latency_ms;
  trial.throughput.samples_per_s = samples_per_s;
  for (const auto& [device, compute_ms, bytes] :
       {std::tuple("pi-1", 4.0, memory), std::tuple("pi-2", 1.0, std::uint64_t{5})}) {
    results::StageFigures& stage = trial.stages.emplace_back();
    stage.device = device;
    stage.compute_p50_ms = compute_ms;
    stage.peak_memory_bytes = bytes;
  }
  trial.links = {{0, 100, 0}, {0, 4096, 1024}, {0, 10, 12}};
  return trial;
}

results::RunRecord run() {
  results::RunRecord run;
  run.id = "r";
  run.options_json = R"({"device_figures":{"pi-1":{"power":2000,"price_per_hour":36000},
                                           "pi-2":{"power":4000,"price_per_hour":36000}}})";
  run.trials = {trial("quick", 10, 100, 900), trial("fast", 20, 200, 800),
                trial("small", 30, 50, 100)};
  return run;
}

double figure(const results::TrialRecord& trial, const std::string& name) {
  for (const results::ObjectiveFigure& one : trial.objectives) {
    if (one.name == name) return one.value;
  }
  return -1;
}

std::vector<std::string> front_of(const results::RunRecord& run) {
  std::vector<std::string> ids;
  for (const results::TrialRecord& trial : run.trials) {
    if (trial.on_front) ids.push_back(trial.id);
  }
  return ids;
}

TEST(FillObjectives, OfMeasuredTrialsWithWhatTheInventorySaid) {
  results::RunRecord all = run();
  all.trials.emplace_back().id = "not measured";
  fill_objectives(all);
  EXPECT_DOUBLE_EQ(figure(all.trials[0], "energy"), 2 * 4 + 4 * 1);
  EXPECT_DOUBLE_EQ(figure(all.trials[0], "memory"), 900);
  EXPECT_DOUBLE_EQ(figure(all.trials[0], "network_bytes"), 100 + 1024 + 12)
      << "as they travelled, or as they are";
  // 0.072 an hour are 2e-5 a second.
  EXPECT_DOUBLE_EQ(figure(all.trials[0], "cost"), 2e-5 / 100 * 1000);
  EXPECT_TRUE(all.trials[3].objectives.empty());
  EXPECT_TRUE(all.axes.empty());
  std::vector<std::string> names;
  for (const results::ObjectiveRecord& one : all.objectives) names.push_back(one.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"latency", "throughput", "energy", "cost"}));
  EXPECT_THAT(names, testing::Not(testing::Contains("loss"))) << "it is predicted only";
}

TEST(FillObjectives, OfRunsThatKeptPowersOnly) {
  results::RunRecord old = run();
  old.options_json = R"({"milliwatts":{"pi-1":2000,"pi-2":4000}})";
  fill_objectives(old);
  EXPECT_DOUBLE_EQ(figure(old.trials[0], "energy"), 12);
  EXPECT_EQ(figure(old.trials[0], "cost"), -1);
  for (const char* const odd :
       {"", "[]", "{\"device_figures\": 5}", "{\"device_figures\": {\"pi-1\": {\"power\": \"x\"}}}",
        "{\"milliwatts\": [1]}", "{\"objectives\": [1, {}]}"}) {
    old.options_json = odd;
    fill_objectives(old);
    EXPECT_EQ(figure(old.trials[0], "energy"), -1) << odd;
    EXPECT_TRUE(old.axes.empty()) << odd;
  }
}

TEST(ChooseObjectives, MakesTheirFront) {
  results::RunRecord all = run();
  fill_objectives(all);
  ASSERT_TRUE(choose_objectives(all, {"memory", "throughput"}));
  EXPECT_EQ(front_of(all), (std::vector<std::string>{"fast", "small"}));
  EXPECT_EQ(all.axes, (std::vector<std::string>{"memory", "throughput"}));
  EXPECT_EQ(all.trials[0].p_front, results::kUnsettled);
  ASSERT_TRUE(choose_objectives(all, {"memory", "throughput", "latency"}));
  EXPECT_EQ(front_of(all), (std::vector<std::string>{"quick", "fast", "small"}));
  ASSERT_TRUE(choose_objectives(all, {"throughput", "latency"}));
  EXPECT_EQ(front_of(all), (std::vector<std::string>{"quick", "fast"}));
}

TEST(ChooseObjectives, TakesThoseThatTheSweepNamed) {
  results::RunRecord all = run();
  all.options_json = R"({"objectives":["memory","throughput"]})";
  fill_objectives(all);
  EXPECT_EQ(front_of(all), (std::vector<std::string>{"fast", "small"}));
}

TEST(ChooseObjectives, SaysWhatIsMissing) {
  results::RunRecord all = run();
  all.options_json = "{}";
  fill_objectives(all);
  const auto refused = [&](const std::vector<std::string>& names) {
    const auto chosen = choose_objectives(all, names);
    return chosen ? "" : chosen.error().message;
  };
  EXPECT_THAT(refused({"energy", "latency"}),
              AllOf(HasSubstr("\"energy\""), HasSubstr("power: 5W"), HasSubstr("memory")));
  EXPECT_THAT(refused({"latency"}), HasSubstr("two objectives"));
  EXPECT_THAT(refused({"latency", "price"}), HasSubstr("\"price\""));
  EXPECT_TRUE(all.axes.empty());
}

}  // namespace
}  // namespace pareto::statistics
