// Modes, choices of a cut and sizes of inputs, with real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Modes : public EndToEnd {};

TEST_F(Modes, SayWhatWasLoadedAndWhy) {
  const Finished eager = run_model({"--model", "squeezenet1_0", "--split", "after:features.6",
                                    "--mode", "eager", "--warm-up", "2"},
                                   "eager.npy");
  ASSERT_EQ(eager.exit_code, 0) << eager.errors;
  const json start = json::parse(eager.output)["start"];
  EXPECT_EQ(start["mode"], "eager");
  EXPECT_EQ(start["warm_up_requests"], 2);
  EXPECT_GT(start["open_ms"].get<double>(), 0);
  EXPECT_GT(start["first_request_ms"].get<double>(), 0);
  ASSERT_EQ(start["stages"].size(), 2U);
  for (const json& stage : start["stages"]) EXPECT_EQ(stage["engine"], "plain");
  const Finished optimised =
      run_model({"--model", "squeezenet1_0", "--split", "after:features.6"}, "optimised.npy");
  ASSERT_EQ(optimised.exit_code, 0) << optimised.errors;
  const json chosen = json::parse(optimised.output)["start"];
  EXPECT_EQ(chosen["mode"], "optimised");
  for (const json& stage : chosen["stages"]) {
    EXPECT_GT(stage["tried"].size(), 1U) << stage;
    EXPECT_EQ(stage["fallback"].get<std::string>().empty(), stage["engine"] != "plain") << stage;
  }
}

TEST_F(Modes, AutoTakesTheCutThatProfilesPredict) {
  std::vector<std::string> arguments{
      "run",        "--split", "auto",     "--transport", "tcp", "--store", path("results.db"),
      "--requests", "2",       "--engine", "plain"};
  const std::vector<std::string> model = small_model();
  arguments.insert(arguments.end(), model.begin(), model.end());
  const Finished before = paretoctl(arguments);
  ASSERT_EQ(before.exit_code, 0) << before.errors;
  EXPECT_THAT(before.errors, HasSubstr("which the fewest bytes cross"));
  std::vector<std::string> profile{"profile", "--transport",      "tcp",
                                   "--store", path("results.db"), "--measured-cuts",
                                   "2",       "--engine",         "plain"};
  profile.insert(profile.end(), model.begin(), model.end());
  const Finished profiled = paretoctl(profile);
  ASSERT_EQ(profiled.exit_code, 0) << profiled.errors;
  const Finished after = paretoctl(arguments);
  ASSERT_EQ(after.exit_code, 0) << after.errors;
  EXPECT_THAT(after.errors, AllOf(HasSubstr("--split auto: after:"), HasSubstr("predicted to take"),
                                  Not(HasSubstr("fewest bytes"))));
}

/// Two branches of two layers each, which may be cut in any order.
class Frontiers : public EndToEnd {};

TEST_F(Frontiers, AreMeasuredAsPlansOfASweep) {
  const Finished listed =
      paretoctl({"splits", "--model", "squeezenet1_0", "--input-shape", "3x64x64", "--num-classes",
                 "10", "--frontiers", "all", "--json"});
  ASSERT_EQ(listed.exit_code, 0) << listed.errors;
  const std::size_t count = json::parse(listed.output)["frontiers"];
  const Finished dry = paretoctl(
      small_sweep({"--splits", "frontiers", "--transport", "tcp", "--dry-run", "--json"}));
  ASSERT_EQ(dry.exit_code, 0) << dry.errors;
  const Finished done =
      paretoctl(small_sweep({"--splits", "frontiers", "--transport", "tcp", "--engine", "plain",
                             "--rounds", "1", "--requests", "1", "--window", "1", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  // Each frontier is a plan, and so is each device by itself.
  EXPECT_EQ(run["trials"].size(), count + 2);
  std::size_t sets = 0;
  for (const json& trial : run["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
    if (trial["plan"]["stages"][0].contains("operators")) ++sets;
  }
  EXPECT_GT(sets, 5U);
}

/// Pictures of several sizes, one model.
class Sizes : public EndToEnd {};

TEST_F(Sizes, OfPicturesMayDifferFromRequestToRequest) {
  const std::vector<std::string> model{"--model", "squeezenet1_0", "--num-classes",
                                       "10",      "--input-shape", "3x64..96/16x64..96/16"};
  write_npy(path("small.npy"), {1, 3, 64, 80}, 0.25F);
  write_npy(path("large.npy"), {1, 3, 96, 96}, 0.5F);
  std::vector<std::string> arguments{
      "run",        "--split", "after:features.6", "--engine",        "plain",
      "--requests", "1",       "--save-plan",      path("plan.json"), "--json"};
  arguments.insert(arguments.end(), model.begin(), model.end());
  const Finished planned = paretoctl(arguments);
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  const Finished streamed = paretoctl({"deploy", "--plan", path("plan.json"), "--output",
                                       path("results"), path("small.npy"), path("large.npy")});
  ASSERT_EQ(streamed.exit_code, 0) << streamed.errors;
  // The whole model on one device, opened with that picture alone.
  for (const char* name : {"small", "large"}) {
    const Finished whole =
        paretoctl({"run", "--model", "squeezenet1_0", "--num-classes", "10", "--input",
                   path(std::string(name) + ".npy"), "--engine", "plain", "--requests", "1",
                   "--json", "--output", path(std::string(name) + ".whole.npy")});
    ASSERT_EQ(whole.exit_code, 0) << whole.errors;
    const std::string expected = slurp(path(std::string(name) + ".whole.npy"));
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(slurp(path("results/" + std::string(name) + ".npy")), expected) << name;
  }
  write_npy(path("odd.npy"), {1, 3, 65, 64}, 0.25F);
  const Finished refused = paretoctl({"deploy", "--plan", path("plan.json"), path("odd.npy")});
  EXPECT_EQ(refused.exit_code, 4) << refused.errors;
  EXPECT_THAT(refused.errors + refused.output, HasSubstr("float32[Bx3xHxW]"));
}

}  // namespace
}  // namespace pareto::test
