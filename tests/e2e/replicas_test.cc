// Whole models that take requests in turns, with real daemons: a file like any other plan's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"
#include "tests/support/json_schema.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

class Replicas : public EndToEnd {
 protected:
  /// Returns a file of the small model on both of two devices; next to it whole.json, of one of
  /// them, and whole.npy, what that made.
  std::string plan() const {
    const Finished whole = run_model(
        {"--model", "squeezenet1_0", "--engine", "plain", "--save-plan", path("whole.json")},
        "whole.npy");
    EXPECT_EQ(whole.exit_code, 0) << whole.errors;
    json plan = json::parse(slurp(path("whole.json")), nullptr, false);
    plan["stages"].push_back(plan["stages"][0]);
    plan["stages"][1]["device"] = "local-1";
    plan["replicas"] = true;
    plan.erase("transport");
    plan["transports"] = {"tcp", "tcp", "grpc", "tcp"};
    std::ofstream(path("replicas.json")) << plan;
    return path("replicas.json");
  }
};

TEST_F(Replicas, GiveTheModelsBits) {
  const Finished done = run_model({"--plan", plan()}, "turns.npy");
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json trial = json::parse(done.output)["trial"];
  EXPECT_EQ(trial["stages"].size(), 2U);
  EXPECT_EQ(trial["links"].size(), 4U);
  EXPECT_EQ(trial["links"][2]["transport"], "grpc");
  EXPECT_GT(trial["links"][2]["wire_bytes"], trial["links"][3]["wire_bytes"])
      << "pictures are larger than scores";
  ASSERT_FALSE(slurp(path("whole.npy")).empty());
  EXPECT_EQ(slurp(path("turns.npy")), slurp(path("whole.npy")));
  const Finished traced =
      run_model({"--plan", path("replicas.json"), "--trace", path("trace.json")}, "traced.npy");
  EXPECT_EQ(traced.exit_code, 2);
  EXPECT_THAT(traced.errors, HasSubstr("a trace is of one pipeline"));
}

TEST_F(Replicas, ArePredictedAndMeasuredBesideOthers) {
  const std::string replicas = plan();
  const Finished done = paretoctl(small_sweep(
      {"--plans", replicas + "," + path("whole.json"), "--rounds", "2", "--predict", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("sweep"), run), IsEmpty());
  ASSERT_EQ(run["trials"].size(), 2U);
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_GT(trial["predicted"]["samples_per_s"], 0);
    EXPECT_LT(trial["output_error"]["max"].get<double>(), 1e-4);
  }
  // Their run can be looked at again.
  const Finished shown = paretoctl({"sweep", "--store", path("results.db"), "--resume", "last"});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("replicas"));
}

TEST_F(Replicas, AnswerAStreamInItsOrder) {
  const std::string replicas = plan();
  std::vector<std::string> arguments{"deploy",   "--plan",        replicas,
                                     "--output", path("results"), "--json"};
  for (int i = 0; i < 5; ++i) {
    const std::string file = path("picture-" + std::to_string(i) + ".npy");
    write_npy(file, {1, 3, 64, 64}, static_cast<float>(i));
    arguments.push_back(file);
  }
  const Finished done = paretoctl(arguments);
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.errors, HasSubstr("ready: 2 replicas over tcp+tcp+grpc+tcp, window 4"));
  std::istringstream lines(done.output);
  std::string line;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(json::parse(line)["request"], arguments[6 + static_cast<std::size_t>(i)]);
    // Whichever replica it was, the picture's own scores.
    const std::string alone = "alone-" + std::to_string(i) + ".npy";
    const Finished whole = run_model(
        {"--plan", path("whole.json"), "--input", path("picture-" + std::to_string(i) + ".npy")},
        alone);
    ASSERT_EQ(whole.exit_code, 0) << whole.errors;
    EXPECT_EQ(slurp(path("results/picture-" + std::to_string(i) + ".npy")), slurp(path(alone)));
  }
}

}  // namespace
}  // namespace pareto::test
