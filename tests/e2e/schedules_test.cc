// Stages that run by schedules on real daemons, from --schedule to outputs, reports, top and
// metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/fixture.h"
#include "tests/support/environment.h"
#include "tests/support/http.h"
#include "tests/support/json_schema.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kTwoMicrobatches =
    std::string(PARETO_SOURCE_DIR) + "/configs/schedules/two-microbatches.yaml";

/// Two daemons that run the small model at batch 4, with two threads of the plain engine.
class Schedules : public EndToEnd {
 protected:
  Schedules()
      : first_("first", folder(), {"--metrics", "127.0.0.1:0"}),
        second_("second", folder()),
        inventory_(inventory({{"first", first_.address()}, {"second", second_.address()}})) {}

  std::vector<std::string> flags(const std::string& schedule) const {
    return {"--devices", inventory_, "--transport", "tcp", "--engine",   "plain",
            "--threads", "2",        "--batch",     "4",   "--schedule", schedule};
  }
  Finished run_by(const std::string& schedule, const std::string& split, const std::string& output,
                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = flags(schedule);
    arguments.insert(arguments.end(), {"--model", "squeezenet1_0", "--split", split});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_model(arguments, output);
  }
  Finished sweep_by(const std::string& schedule, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = flags(schedule);
    arguments.insert(arguments.end(),
                     {"--splits", "after:features.6", "--exhaustive", "--rounds", "1"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return paretoctl(small_sweep(arguments));
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

  /// Expects that `top` shows what two workers of each stage do, while a plan is deployed.
  void expect_top_shows_workers(const std::string& plan) const {
    write_npy(path("frame.npy"), {4, 3, 64, 64}, 0);
    {
      // More often than the test takes.
      std::ofstream names(path("names"));
      for (int i = 0; i < 100'000; ++i) names << path("frame.npy") << '\n';
    }
    std::string line = std::string("exec ") + test::programs_folder() +
                       "/paretoctl deploy --plan " + plan + " --devices " + inventory_;
    for (const std::string& word : small_model()) line += " " + word;
    Process deployed({"/bin/sh", "-c", line + " < " + path("names")});
    ASSERT_TRUE(deployed.wait_for_output(" ms\n")) << deployed.errors();
    const auto top = paretoctl(
        {"top", "--devices", inventory_, "--json", "--count", "6", "--interval", "300ms"});
    EXPECT_EQ(top.exit_code, 0) << top.errors;
    const json schema = golden_schema("top");
    std::istringstream lines(top.output);
    int seen = 0;
    for (std::string text; std::getline(lines, text);) {
      const json interval = json::parse(text);
      EXPECT_THAT(violations(schema, interval), IsEmpty()) << text;
      for (const json& pipeline : interval["pipelines"]) {
        for (const json& stage : pipeline["stages"]) {
          EXPECT_THAT(stage["schedule"].get<std::string>(), StartsWith("program "));
          // On a busy machine it may be that nothing is done in an interval.
          if (stage["rates"].is_null() || stage["rates"]["requests_per_s"] == 0) continue;
          EXPECT_EQ(stage["rates"]["workers"].size(), 2U) << text;
          if (stage["rates"]["workers"][0] > 0 && stage["rates"]["workers"][1] > 0) ++seen;
        }
      }
    }
    EXPECT_GT(seen, 0) << top.output;
    const auto text = paretoctl({"top", "--devices", inventory_, "--once", "--interval", "300ms"});
    EXPECT_THAT(text.output, AllOf(HasSubstr("computing  "), HasSubstr("  workers  ")));
    deployed.signal(SIGINT);
    EXPECT_EQ(deployed.wait(), 0) << deployed.errors();
  }

  Daemon first_;
  Daemon second_;
  std::string inventory_;
};

TEST_F(Schedules, GiveTheWholeModelsOutputsBitForBit) {
  // Each part runs on one thread here, and LibTorch 2 rounds otherwise with more.
  const EnvironmentVariable threads("OMP_NUM_THREADS", "1");
  const auto whole = run_by("sequential", "none", "whole.npy", {"--threads", "1"});
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  const std::string expected = slurp(path("whole.npy"));
  ASSERT_FALSE(expected.empty());
  for (const std::string& schedule : {std::string("clusters"), kTwoMicrobatches}) {
    const auto done =
        run_by(schedule, "after:features.6", "parted.npy", {"--save-plan", path("plan.json")});
    ASSERT_EQ(done.exit_code, 0) << schedule << ": " << done.errors;
    EXPECT_EQ(slurp(path("parted.npy")), expected) << schedule;
    const json trial = json::parse(done.output)["trial"];
    EXPECT_EQ(trial["output_error"]["max"], 0) << schedule;
    ASSERT_EQ(trial["stages"].size(), 2U);
    for (const json& stage : trial["stages"]) {
      EXPECT_THAT(stage["schedule"].get<std::string>(),
                  StartsWith(schedule == "clusters" ? schedule : "program "));
    }
  }
  // Its counters stay when a pipeline has ended.
  const auto scraped = http_get(first_.metrics(), "/metrics");
  EXPECT_EQ(scraped.status, 200);
  for (const char* const worker : {"0", "1"}) {
    EXPECT_THAT(scraped.body, testing::ContainsRegex(
                                  std::string("pareto_stage_worker_seconds_total\\{stage=\"0\","
                                              "slot=\"0\",worker=\"") +
                                  worker + "\",device=\"first\"\\} 0*\\.?0*[1-9]"));
  }
  expect_top_shows_workers(path("plan.json"));
}

TEST_F(Schedules, AutoSaysWhatItChoseFrom) {
  const auto done = run_by("auto", "after:features.6", "auto.npy");
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json trial = json::parse(done.output)["trial"];
  // The bits of a layer go by its threads, and "sequential" gives it all.
  EXPECT_LT(trial["output_error"]["max"], 1e-5);
  EXPECT_EQ(trial["plan"]["schedule"], "auto");
  for (const json& stage : trial["stages"]) {
    const std::string tried = "the fastest here: sequential ";
    EXPECT_THAT(stage["schedule_reason"].get<std::string>(), StartsWith(tried));
    EXPECT_THAT(stage["schedule_reason"].get<std::string>(),
                HasSubstr(stage["schedule"].get<std::string>()));
  }
}

TEST_F(Schedules, AreNamedByASweepAndItsReports) {
  const auto done = sweep_by(kTwoMicrobatches, {"--json"});
  ASSERT_EQ(done.exit_code, 0) << done.errors;
  const json run = json::parse(done.output);
  EXPECT_THAT(violations(golden_schema("sweep"), run), IsEmpty());
  ASSERT_EQ(run["trials"].size(), 3U);
  std::string program;
  for (const json& trial : run["trials"]) {
    ASSERT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_EQ(trial["output_error"]["max"], 0);
    EXPECT_EQ(trial["plan"]["schedule"]["split"]["parts"], 2);
    for (const json& stage : trial["stages"]) {
      program = stage["schedule"].get<std::string>();
      EXPECT_THAT(program, StartsWith("program "));
      EXPECT_FALSE(stage.contains("schedule_reason")) << stage;
    }
  }
  const auto table = paretoctl({"front", "last", "--store", path("results.db")});
  EXPECT_EQ(table.exit_code, 0) << table.errors;
  EXPECT_THAT(table.output, AllOf(HasSubstr(program), testing::Not(HasSubstr("asked for"))));
}

TEST_F(Schedules, ThatAreNoneOrDoNotFitAreRefused) {
  for (const Finished& done :
       {run_by("clustres", "percent:50", "none.npy"), sweep_by("clustres")}) {
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.errors,
                HasSubstr("--schedule clustres: no schedule \"clustres\" (did you mean "
                          "clusters?); there are auto, sequential"));
  }
  // Only a device, which has the operators, can tell.
  const std::string twice = write(
      "twice.yaml", "units:\n  - {operators: [\"*conv*\"]}\n  - {operators: [\"*conv2d\"]}\n");
  const auto ran = run_by(twice, "percent:50", "none.npy");
  EXPECT_EQ(ran.exit_code, 2) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("units[0] and units[1] both mark operator"));
  const auto swept = sweep_by(twice);
  EXPECT_EQ(swept.exit_code, 4) << swept.errors;
  EXPECT_THAT(swept.output + swept.errors, HasSubstr("units[0] and units[1] both mark operator"));
}

}  // namespace
}  // namespace pareto::test
