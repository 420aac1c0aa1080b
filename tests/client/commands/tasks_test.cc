// tasks: what it refuses, and small runs of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/program.h"
#include "core/base/cores.h"
#include "tests/client/support/program.h"
#include "tests/support/json_schema.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> small_tasks(const std::string& action,
                                     const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{
      "tasks",   action,      "--tasks", "5",        "--heavy", "resnet18", "--input-shape",
      "3x64x64", "--workers", "2",       "--rounds", "1",       "--engine", "plain"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_F(Program, TasksAreMeasuredNextToEveryBaseline) {
  const Done done = run(small_tasks("run", {"--json", "--html", path("t.html"), "--trace",
                                            path("t.json"), "--csv", path("csv")}));
  ASSERT_EQ(done.code, kExitDone) << done.err;
  const json document = json::parse(done.out);
  EXPECT_THAT(test::violations(test::golden_schema("tasks"), document), testing::IsEmpty());
  EXPECT_EQ(document["tasks"].size(), 5U);
  ASSERT_EQ(document["baselines"].size(), 4U);
  for (const json& baseline : document["baselines"]) {
    EXPECT_EQ(baseline["output_mismatches"], 0) << baseline["name"];
    EXPECT_GT(baseline["speed_up"].get<double>(), 0);
    if (baseline["name"] == "sequential-all") continue;  // its threads sum in another order
    EXPECT_EQ(baseline["worst_output_error"], 0) << baseline["name"];
  }
  EXPECT_GT(document["predicted"]["makespan_ms"].get<double>(), 0);
  EXPECT_THAT(read_file(path("t.html")).value(),
              AllOf(HasSubstr("<svg"), HasSubstr("resnet18"), HasSubstr("sequential-all")));
  const json trace = json::parse(read_file(path("t.json")).value());
  EXPECT_FALSE(trace["traceEvents"].empty());
  EXPECT_THAT(read_file(path("csv/profile.csv")).value(),
              AllOf(testing::StartsWith("task,model,layer"), HasSubstr("layer1.0.conv1")));
  EXPECT_THAT(read_file(path("csv/runs.csv")).value(), HasSubstr("async,median"));
  EXPECT_THAT(read_file(path("csv/tasks.csv")).value(), HasSubstr("squeezenet1_0"));
}

TEST_F(Program, TasksSaysWhatItChoseAndHowItWasPredicted) {
  const Done done = run(small_tasks("run", {"--baseline", "sequential", "--split", "always"}));
  ASSERT_EQ(done.code, kExitDone) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("5 tasks on 2 workers"), HasSubstr("resnet18 in 2 stages"),
                              HasSubstr("predicted"), HasSubstr("measured"), HasSubstr("outputs "),
                              HasSubstr("sequential-all")));
}

TEST_F(Program, TasksSweepHasAPointForEachMix) {
  const Done done = run(small_tasks(
      "sweep", {"--shares", "0,50%", "--baseline", "async", "--json", "--html", path("s.html")}));
  ASSERT_EQ(done.code, kExitDone) << done.err;
  const json document = json::parse(done.out);
  EXPECT_THAT(test::violations(test::golden_schema("tasks_sweep"), document), testing::IsEmpty());
  ASSERT_EQ(document["mixes"].size(), 2U);
  EXPECT_EQ(document["mixes"][0]["heavy_share"], 0);
  EXPECT_EQ(document["mixes"][1]["heavy_share"], 0.5);
  EXPECT_THAT(read_file(path("s.html")).value(), HasSubstr("<polyline"));
}

/// Somebody stops the program as soon as there is something to be shown.
class StoppedWhenRunning final : public StopSignal {
 public:
  const std::atomic<bool>& watch() override { return stop_; }
  void leave_at_once(const char* /*sentence*/) override { leaves_ = true; }
  void announce(const char* /*sentence*/) override {
    EXPECT_TRUE(leaves_) << "until then nothing is lost";
    stop_ = true;
  }

 private:
  bool leaves_ = false;
  std::atomic<bool> stop_{false};
};

TEST_F(Program, TasksThatAreStoppedShowWhatIsDone) {
  StoppedWhenRunning stop;
  const Done done = run(small_tasks("run", {"--html", path("t.html"), "--csv", path("csv")}), stop);
  EXPECT_EQ(done.code, kExitPartial) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("stopped after 0 of 1 round; 0 of 5 tasks were done"),
                              HasSubstr("not done")));
  EXPECT_THAT(read_file(path("t.html")).value(), HasSubstr("0 of 5 tasks were done"));
  StoppedWhenRunning sweep_stop;
  const Done sweep = run(small_tasks("sweep", {"--shares", "0.2,0.8", "--json"}), sweep_stop);
  EXPECT_EQ(sweep.code, kExitPartial) << sweep.err;
  const json document = json::parse(sweep.out);
  EXPECT_THAT(test::violations(test::golden_schema("tasks_sweep"), document), testing::IsEmpty());
  EXPECT_EQ(document["stopped"], true);
  EXPECT_EQ(document["mixes"].size(), 1U);
}

TEST_F(Program, MoreWorkersThanCoresAreToldOf) {
  std::vector<std::string> arguments =
      small_tasks("run", {"--baseline", "none", "--stages", "1", "--light", "resnet18"});
  const std::string workers = std::to_string(usable_cores().size() + 1);
  *std::next(std::ranges::find(arguments, "--workers")) = workers;
  const Done done = run(arguments);
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_THAT(done.err, HasSubstr(workers + " workers share"));
}

TEST_F(Program, TasksRefusesWhatCannotBeRun) {
  const auto refuses = [&](const std::vector<std::string>& more, const std::string& sentence) {
    refused(small_tasks("run", more), kExitUsage, HasSubstr(sentence));
  };
  refuses({"--ratio", "0:0"}, "--ratio: ratio 0:0");
  refuses({"--ratio", "many"}, "as in 1:2");
  refuses({"--light", "squeezenet"}, "--light: unknown model \"squeezenet\" (did you mean");
  refuses({"--deadline", "0"}, "in the past");
  refuses({"--arrivals", "sometimes"}, "poisson:RATE");
  refuses({"--schedule", "hefty"}, "did you mean heft");
  refuses({"--metric", "bytes/flps"}, "nothing is called \"flps\"");
  refuses({"--metric", "bytes/(1-1)"}, "which is zero");
  refuses({"--baseline", "fastest"}, "no such baseline");
  refuses({"--split", "some"}, "auto, never and always");
  refuses({"--stages", "0"}, "--stages 0");
  refused({"tasks", "run", "--tasks", "0"}, kExitUsage, HasSubstr("no tasks"));
  refused({"tasks", "run", "--tasks", "-1"}, kExitUsage, HasSubstr("--tasks -1: no tasks"));
  refused({"tasks", "run", "--workers", "65"}, kExitUsage, HasSubstr("--workers 65"));
  refused({"tasks", "run", "--workers", "1000"}, kExitUsage, HasSubstr("1 to 64 are possible"));
  const std::string plain_file = path("file");
  ASSERT_TRUE(write_file_atomically(plain_file, "x"));
  refused({"tasks", "run", "--csv", plain_file}, kExitUsage, HasSubstr("is no folder"));
  refused({"tasks", "sweep", "--shares", "2"}, kExitUsage, HasSubstr("--shares 2"));
  refused({"tasks", "sweep", "--file", "a.yaml"}, kExitUsage, HasSubstr("--file is of tasks run"));
  refused({"tasks", "sweep", "--ratio", "1:2"}, kExitUsage, HasSubstr("--ratio is of tasks run"));
  refused({"tasks", "run", "--shares", "1"}, kExitUsage, HasSubstr("--shares is of tasks sweep"));
  refused({"tasks", "run", "--file", "a.yaml", "--ratio", "1:2"}, kExitUsage,
          HasSubstr(" does not go with "));
  refused({"tasks", "sweep", "--light", "resnet50"}, kExitUsage, HasSubstr("one model"));
  const std::string file = path("tasks.yaml");
  ASSERT_TRUE(write_file_atomically(file, "tasks:\n  - {model: resnet51}\n"));
  refused({"tasks", "run", "--file", file}, kExitUsage,
          AllOf(HasSubstr("tasks.yaml:2"), HasSubstr("did you mean resnet50")));
  ASSERT_TRUE(write_file_atomically(file, "tasks: []\n"));
  refused({"tasks", "run", "--file", file}, kExitUsage, HasSubstr("no tasks"));
}

}  // namespace
}  // namespace pareto::client::commands
