// Steps of training that are predicted, next to those that are measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class TrainPlan : public EndToEnd {
 protected:
  static std::vector<std::string> with(const std::string& command,
                                       const std::vector<std::string>& more) {
    std::vector<std::string> arguments{command,         "--train", "--model",       "mobilenetv2",
                                       "--input-shape", "3x64x64", "--num-classes", "10",
                                       "--batch",       "8",       "--micro-batch", "2",
                                       "--threads",     "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(TrainPlan, PredictsWhatASweepMeasures) {
  const auto done = paretoctl(with(
      "sweep", {"--predict", "--splits", "after:features.2,after:features.13,after:features.18",
                "--transport", "tcp", "--rounds", "2", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  for (const json& trial : run["trials"]) {
    ASSERT_TRUE(trial.contains("predicted")) << trial["id"];
    const double expected = trial["predicted"]["latency_ms"];
    const double measured = trial["latency_ms"]["p50"];
    // Others may be at work on this machine while a trial is measured, or its device profiled.
    EXPECT_LT(std::abs(std::log10(expected / measured)), 1) << trial["id"];
    EXPECT_NEAR(trial["predicted"]["samples_per_s"].get<double>(), 8000 / expected, 80 / expected);
  }
  EXPECT_GE(run["trials"].size(), 5U);
  ASSERT_EQ(run["prediction_errors"].size(), 1U) << "it says how far they were off";
}

TEST_F(TrainPlan, ListsPlansTheFastestFirstAndSavesIt) {
  const auto done = paretoctl(with(
      "plan", {"--splits", "after:features.2,after:features.13", "--save", path("plan.json")}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.output,
              AllOf(HasSubstr("samples/s"), HasSubstr("all on local-0"),
                    HasSubstr("after:features.13"), HasSubstr("fastest: after:features.13")));
  EXPECT_LT(done.output.find("after:features.13"), done.output.find("after:features.2 "));
  const json plan = json::parse(slurp(path("plan.json")));
  EXPECT_EQ(plan["stages"].size(), 2U);
  const auto trained = paretoctl(
      {"train", "--plan", path("plan.json"), "--data", "synthetic:10", "--epochs", "1", "--json"});
  EXPECT_EQ(trained.exit_code, 0) << trained.errors;
  const json start = json::parse(trained.output.substr(0, trained.output.find('\n')));
  EXPECT_EQ(start["setup"]["batches"]["batch"], 8);
  EXPECT_EQ(start["setup"]["micro_batches"], 4) << "of 2 samples, as in the plan";
  const auto shown = paretoctl(with("plan", {"--splits", "after:features.13", "--json"}));
  ASSERT_EQ(shown.exit_code, 0) << shown.errors;
  double last = 0;
  for (const json& trial : json::parse(shown.output)["trials"]) {
    EXPECT_GE(trial["predicted"]["latency_ms"], last);
    last = trial["predicted"]["latency_ms"];
  }
}

TEST_F(TrainPlan, RefusesWhatSearchesHave) {
  const auto refused = paretoctl(with("plan", {"--cuts", "ideals"}));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.errors, AllOf(HasSubstr("--train"), HasSubstr("--cuts")));
  const auto alone = paretoctl({"plan", "--model", "mobilenetv2", "--micro-batch", "2"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.errors, HasSubstr("--train"));
}

}  // namespace
}  // namespace pareto::test
