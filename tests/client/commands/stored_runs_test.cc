// What the program does with runs that are stored: shows them, compares two, goes on with one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "client/flags/kept_flags.h"
#include "coordinator/results/run_lock.h"
#include "tests/client/support/program.h"
#include "tests/support/json_schema.h"
#include "tests/support/synthetic_run.h"

namespace pareto::client::commands {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Somebody wants the program to stop as soon as it watches for that.
class StoppedAtOnce final : public StopSignal {
 public:
  const std::atomic<bool>& watch() override {
    told_ = FileDescriptor(::eventfd(1, EFD_CLOEXEC));
    return stop_;
  }
  int descriptor() const override { return told_.get(); }

 private:
  std::atomic<bool> stop_{true};
  FileDescriptor told_;
};

class StoredRuns : public Program {
 protected:
  Done run_diff(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "diff");
    return run(arguments);
  }
};

TEST_F(StoredRuns, CommandLinesOfAnyBytesAreListed) {
  results::RunRecord record = test::synthetic_run({});
  record.command_line = "paretoctl sweep --report 'r\xe9s.html'";
  stored(record);
  const Done done = run({"runs", "--json"});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_EQ(json::parse(done.out)[0]["command_line"],
            "paretoctl sweep --report 'r\xEF\xBF\xBDs.html'");
}

TEST_F(StoredRuns, RunsAreNamedAndRemoved) {
  const results::RunRecord first = stored_run({.batches = {1}, .split_points = 1});
  EXPECT_EQ(run({"runs", "tag", first.id, "kitchen"}).code, 0);
  EXPECT_THAT(run({"runs"}).out, AllOf(HasSubstr("kitchen"), HasSubstr("name")));
  EXPECT_EQ(json::parse(run({"runs", "--json"}).out)[0]["name"], "kitchen");
  EXPECT_EQ(run({"front", "kitchen"}).out, run({"front", first.id}).out);
  EXPECT_EQ(run({"front", first.id.substr(first.id.size() - 4)}).out, run({"front", first.id}).out);
  refused({"front", "kichen"}, 2, HasSubstr("did you mean kitchen?"));
  refused({"export", "--csv", "x.csv"}, 2,
          AllOf(HasSubstr("holds no run \"x.csv\""), HasSubstr("(to write a file: -o x.csv)")));
  refused({"report", "page.html"}, 2, HasSubstr("-o page.html"));
  refused({"runs", "tag", "kitchen"}, 2, HasSubstr("a run and its new name"));
  refused({"runs", "tag", "kitchen", "last"}, 2, HasSubstr("cannot name a run"));
  refused({"runs", "rm"}, 2, HasSubstr("names no run"));
  refused({"runs", "rm", "kitchen", "attic"}, 2, HasSubstr("attic"));
  refused({"runs", "list", "kitchen"}, 2, HasSubstr("paretoctl front kitchen"));
  {
    const auto lock = results::RunLock::try_take(path("results.db"), first.id);
    refused({"runs", "rm", "kitchen"}, 3, HasSubstr("measured by another process"));
  }
  const std::string page = path("report-" + first.id + ".html");
  std::ofstream(page) << "as a sweep writes it";
  const Done done = run({"runs", "rm", "kitchen", first.id});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.err, "removed run " + first.id + "\nits report stays: " + page + "\n");
  refused({"front", "kitchen"}, 2, HasSubstr("holds no run"));
  const Done none = run({"runs"});
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("no runs yet"));
  EXPECT_EQ(run({"runs", "--json"}).out, "[]\n");
}

TEST_F(StoredRuns, AReportHoldsTheRunItIsComparedWith) {
  results::RunRecord earlier = test::synthetic_run({.batches = {1}, .split_points = 2});
  earlier.id = "20260130-101502-cd34";
  earlier.started = "2026-01-30T10:15:02Z";
  stored(earlier);
  const results::RunRecord later = stored_run();
  const std::string page = path("compared.html");
  ASSERT_EQ(run({"report", later.id, "--with", earlier.id, "--output", page}).code, kExitDone);
  const std::string text = read_file(page).value();
  const std::string open = "id=\"other\">";
  const std::size_t begin = text.find(open) + open.size();
  const json other = json::parse(text.substr(begin, text.find("</script>", begin) - begin));
  EXPECT_EQ(other["run"], earlier.id);
  refused({"report", later.id, "--with", "1999"}, kExitUsage, HasSubstr("--with 1999"));
  EXPECT_THAT(run({"report", later.id, "--with", earlier.id, "--output", page}).err,
              Not(HasSubstr("another model")));
  earlier.id = "20260129-101502-ef56";
  earlier.model = "resnet18";
  stored(earlier);
  EXPECT_THAT(run({"report", later.id, "--with", earlier.id, "--output", page}).err,
              HasSubstr("note: run " + earlier.id + " is of another model, resnet18, where run " +
                        later.id + " is of mobilenetv2"));
}

TEST_F(StoredRuns, ViewsOfAStoredRun) {
  const results::RunRecord stored = stored_run();
  const Done front = run({"front", "--json", "last"});
  EXPECT_EQ(front.code, kExitDone);
  EXPECT_THAT(test::violations(test::golden_schema("sweep"), json::parse(front.out)), IsEmpty());
  EXPECT_THAT(run({"front", stored.id.substr(0, 10)}).out, HasSubstr("Pareto front, batch 8"));
  const Done csv = run({"export", "--csv"});
  EXPECT_EQ(std::ranges::count(csv.out, '\n'),
            static_cast<std::ptrdiff_t>(stored.trials.size() + 1));
  EXPECT_EQ(run({"report", "--output", path("r.html")}).code, kExitDone);
  EXPECT_THAT(read_file(path("r.html")).value(), HasSubstr(stored.id));
  EXPECT_EQ(run({"export", "--format", "json", "--output", path("r.json")}).out, "");
  EXPECT_EQ(json::parse(read_file(path("r.json")).value()), json::parse(front.out));
  const json runs = json::parse(run({"runs", "--json"}).out);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0]["run"], stored.id);
  EXPECT_EQ(runs[0]["failed"], 1);
  EXPECT_EQ(runs[0]["measured"], stored.trials.size() - 1);
  EXPECT_EQ(runs[0]["skipped"], 0);
  EXPECT_THAT(run({"runs"}).out, HasSubstr(stored.command_line));
}

TEST_F(StoredRuns, TrialsAreShownInTheOrderOfTheirCuts) {
  results::RunRecord record = test::synthetic_run({.transports = {"tcp"}, .batches = {1}});
  std::ranges::reverse(record.trials);
  std::swap(record.trials[3], record.trials[7]);
  stored(record);
  const json trials = json::parse(run({"front", "--json"}).out)["trials"];
  ASSERT_EQ(trials.size(), record.trials.size());
  std::vector<std::int64_t> positions;
  for (const json& trial : trials) {
    if (!trial["split"].is_null()) positions.push_back(trial["split"]["position"]);
  }
  EXPECT_EQ(positions.size(), 19U);
  EXPECT_TRUE(std::ranges::is_sorted(positions));
  EXPECT_FALSE(trials.front()["split"].is_null());
  EXPECT_TRUE(trials.back()["split"].is_null()) << "whole models are last";
  const Done resumed = run({"sweep", "--resume", "last", "--report", "none", "--json"});
  EXPECT_EQ(json::parse(resumed.out)["trials"], trials);
}

TEST_F(StoredRuns, PicturesOfAStoredRun) {
  stored_run({.batches = {1}, .split_points = 3});
  const std::string png = path("front.png");
  const std::string svg = path("front.svg");
  refused({"report", "--png", png, "--browser", "no-such-browser"}, kExitEnvironment,
          HasSubstr("apt install chromium"));
  refused({"report", "--png", png, "--condition", "wifi"}, kExitUsage,
          HasSubstr("network \"none\" at batch 1"));
  refused({"report", "--png", png, "--width", "80"}, kExitUsage, HasSubstr("--width"));
  refused({"report", "--png", png, "--width", "1601"}, kExitUsage,
          AllOf(HasSubstr("--width 1601"), HasSubstr("even")));
  refused({"report", "--svg", svg, "--height", "1001"}, kExitUsage, HasSubstr("--height 1001"));
  refused({"report", "--png", png, "--theme", "blue"}, kExitUsage, HasSubstr("--theme"));
  refused({"report", "--height", "800"}, kExitUsage, HasSubstr("--png"));
  refused({"report", "--svg", path("front.pdf")}, kExitUsage,
          HasSubstr("svg files are written here, and the name ends with .pdf"));
  EXPECT_FALSE(std::filesystem::exists(png));
  const Done done = run({"report", "--png", png, "--svg", svg, "--theme", "dark"});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_EQ(done.err, "picture: " + png + "\npicture: " + svg + "\n") << "and no page";
  EXPECT_THAT(read_file(png).value(), StartsWith("\x89PNG"));
  EXPECT_THAT(read_file(svg).value(), StartsWith("<svg"));
}

TEST_F(StoredRuns, APictureIsDrawnUntilItIsStopped) {
  stored_run({.batches = {1}, .split_points = 3});
  const std::string browser = path("browser");
  ASSERT_TRUE(write_file_atomically(browser, "#!/bin/sh\nexec sleep 1000\n"));
  std::filesystem::permissions(browser, std::filesystem::perms::owner_all);
  StoppedAtOnce stop;
  const Done done = run({"report", "--png", path("front.png"), "--browser", browser}, stop);
  EXPECT_EQ(done.code, kExitFailed);
  EXPECT_EQ(done.err, "paretoctl: drawing the front: stopped\n");
  EXPECT_FALSE(std::filesystem::exists(path("front.png")));
}

TEST_F(StoredRuns, ViewsOfWhatIsNotThere) {
  const std::string typo = path("typo/results.db");
  for (const std::vector<std::string>& looks :
       std::vector<std::vector<std::string>>{{"front"},
                                             {"report"},
                                             {"export"},
                                             {"runs"},
                                             {"diff"},
                                             {"simulate", "--run", "last"},
                                             {"sweep", "--resume", "last"}}) {
    std::vector<std::string> arguments = looks;
    arguments.insert(arguments.end(), {"--store", typo});
    refused(arguments, kExitUsage, AllOf(HasSubstr("holds no run"), HasSubstr("--store")));
  }
  EXPECT_FALSE(std::filesystem::exists(path("typo"))) << "who looks makes nothing";
  stored_run({.batches = {1}, .split_points = 1});
  refused({"front", "20260131-101502-ab13"}, kExitUsage, HasSubstr("20260131-101502-ab12"));
  refused({"export", "--format", "xml"}, kExitUsage, HasSubstr("csv"));
  refused({"report", "--output", path("no/folder/r.html")}, kExitUsage, HasSubstr("no/folder"));
  std::ofstream(path("text.db")) << "this is text and no database";
  refused({"runs", "--store", path("text.db")}, kExitUsage, HasSubstr("not a results file"));
  refused({"sweep", "--resume", "last", "--store", path("empty.db")}, kExitUsage,
          HasSubstr("holds no run"));
}

TEST_F(StoredRuns, DiffOfTwoStoredRuns) {
  results::RunRecord run = stored_run();
  const std::string first = run.id;
  run.id = "20260201-101502-cd34";
  results::TrialRecord& slower = run.trials[4];
  slower.latency.p50_ms *= 3;
  for (results::TrialRound& round : slower.rounds) {
    for (double& ms : round.latency_ms) ms *= 3;
  }
  run.trials[5].batch = 32;
  for (results::TrialRecord& trial : run.trials) trial.plan.settings.precision = "bf16";
  stored(run);
  const Done table = run_diff({});
  EXPECT_EQ(table.code, kExitFailed) << table.err;
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("A: run " + first), HasSubstr("B: run " + run.id),
                    HasSubstr("not the same: precision: fp32 in A, bf16 in B"),
                    HasSubstr("REGRESSED"), HasSubstr("1 regressed by more than 2 %"),
                    HasSubstr("only in A: after:features.5/tcp/b1"), HasSubstr("3.000 [")));
  EXPECT_THAT(table.out, HasSubstr(" plans, up to one in twenty is called different"));
  EXPECT_THAT(run_diff({"--between", "after:features.0/tcp/b1,after:features.1/tcp/b1"}).out,
              HasSubstr(": in up to one of twenty comparisons a plan is called different"));
  EXPECT_EQ(run_diff({"--tolerance", "400%"}).code, kExitUsage);
  EXPECT_EQ(run_diff({"last", "last~1"}).code, kExitDone) << "now it is faster";
  EXPECT_THAT(run_diff({"last", "last~1"}).out, HasSubstr("1 faster"));

  const json schema = test::golden_schema("diff");
  const Done document = run_diff({first, "20260201", "--json"});
  EXPECT_EQ(document.code, kExitFailed);
  const json parsed = json::parse(document.out);
  EXPECT_THAT(test::violations(schema, parsed), IsEmpty());
  EXPECT_EQ(parsed["regressions"], 1);
  EXPECT_EQ(parsed["plans"][0]["change"], "regressed");
  EXPECT_EQ(parsed["plans"][0]["latency_ms"]["verdict"], "slower");
  EXPECT_EQ(parsed["plans"][0]["throughput"]["regressed"], false);
  EXPECT_EQ(parsed["only_in_b"].size(), 1U);

  const Done between =
      run_diff({"--between", "after:features.2/tcp/b1,after:features.4/tcp/b1", "--json"});
  EXPECT_EQ(between.code, kExitFailed) << between.err;
  const json pair = json::parse(between.out);
  EXPECT_THAT(test::violations(schema, pair), IsEmpty());
  EXPECT_EQ(pair["a"], pair["b"]);
  EXPECT_EQ(pair["plans"][0]["paired"], true);
  EXPECT_THAT(run_diff({"--between", "after:features.2/tcp/b1,after:features.4/tcp/b1"}).out,
              HasSubstr("1 plan compared"));
}

TEST_F(StoredRuns, DiffTellsOfMachinesThatWereBusy) {
  results::RunRecord run = stored_run({.batches = {1}, .split_points = 2});
  run.id = "20260201-101502-cd34";
  run.passes.resize(1);
  run.passes[0].others = {{results::kThisMachine, 2, 0.91, 5.8, 30}};
  stored(run);
  EXPECT_THAT(
      run_diff({}).out,
      HasSubstr("\nB: this machine: load 5.8 on 2 cores, others used 91 %: figures vary\n"));
  const json parsed = json::parse(run_diff({"--json"}).out);
  EXPECT_THAT(test::violations(test::golden_schema("diff"), parsed), IsEmpty());
  EXPECT_THAT(parsed["a"]["disturbances"], IsEmpty());
  EXPECT_EQ(parsed["b"]["disturbances"][0]["where"], results::kThisMachine);
}

TEST_F(StoredRuns, DiffOfWhatCannotBeCompared) {
  refused({"diff"}, kExitUsage, HasSubstr("holds no run"));
  results::RunRecord run = stored_run({.batches = {1}, .split_points = 2});
  refused({"diff"}, kExitUsage,
          AllOf(HasSubstr("\"last~1\" needs 2 runs"), HasSubstr("results.db holds 1 run")));
  refused({"diff", run.id}, kExitUsage, HasSubstr("the same run"));
  refused({"diff", "--between", "a"}, kExitUsage, HasSubstr("ID,ID"));
  refused({"diff", "--between", "after:features.0/tcp/b2,after:features.0/tcp/b1"}, kExitUsage,
          HasSubstr("did you mean after:features.0/tcp/b1"));
  refused({"diff", "--tolerance", "2"}, kExitUsage, HasSubstr("--tolerance"));
  run.id = "20260201-101502-cd34";
  run.model_digest = std::string(64, 'b');
  stored(run);
  refused({"diff"}, kExitUsage, HasSubstr("other models"));
  refused({"diff", "a", "b", "c"}, kExitUsage, HasSubstr("c"));
}

TEST_F(StoredRuns, ARunThatGoesOnHasItsOwnFlags) {
  stored_run({.batches = {1}, .split_points = 1});
  for (const std::vector<std::string>& flag :
       std::vector<std::vector<std::string>>{{"--dry-run"},
                                             {"--adaptive"},
                                             {"--exhaustive"},
                                             {"--model", "vgg16"},
                                             {"--input", "3x64x64"},
                                             {"--rounds", "9"},
                                             {"--batch", "8"},
                                             {"--network", "none"},
                                             {"--plans", "plan.json"}}) {
    std::vector<std::string> arguments{"sweep", "--resume", "last"};
    arguments.insert(arguments.end(), flag.begin(), flag.end());
    refused(arguments, kExitUsage,
            AllOf(HasSubstr(flag.front() + " does not go with --resume"),
                  HasSubstr("keeps the flags it began with; --store, --devices")));
  }
  const Done shown =
      run({"sweep", "--resume", "last", "--store", path("results.db"), "--devices",
           path("inventory.yaml"), "--report", "none", "--metrics", "127.0.0.1:0", "--json"});
  EXPECT_EQ(shown.code, kExitPartial) << shown.err << "a plan of it failed";
  EXPECT_THAT(shown.err, HasSubstr("is finished"));
  const std::string page = path("page.html");
  EXPECT_THAT(run({"sweep", "--resume", "last", "--report", page}).err,
              testing::EndsWith("report: " + page + "\n"))
      << "behind what failed";
}

TEST_F(StoredRuns, ARunSaysWhatItsBudgetLeftUndecided) {
  results::RunRecord run = test::synthetic_adaptive_sweep();
  KeptFlags flags;
  flags.options.adaptive = true;
  flags.options.budget_s = 20;
  run.options_json = to_json(flags);
  run.passes.resize(1);
  run.passes[0].seconds = 19;
  stored(run);
  const std::vector<std::string> again{"sweep", "--resume", "last", "--report", "none"};
  EXPECT_THAT(this->run(again).err,
              AllOf(testing::Not(HasSubstr("undecided")), HasSubstr("is finished")));
  run.id = "20260201-101502-cd34";
  run.passes[0].seconds = 21;
  stored(run);
  EXPECT_THAT(this->run(again).err,
              AllOf(testing::Not(HasSubstr("is finished")),
                    testing::ContainsRegex("the budget of 20 s is spent, [0-9]+ plans? undecided; "
                                           "go on with: paretoctl sweep --resume "
                                           "20260201-101502-cd34 --budget 40s\n")));
}

TEST_F(StoredRuns, WrongOutputsAreAFailureAndNotAPart) {
  results::RunRecord wrong = test::synthetic_run({.batches = {1}, .split_points = 1});
  results::TrialRecord& trial = wrong.trials.front();
  trial.status = results::TrialStatus::kFailed;
  trial.failure = "output 0 is float64[1x4], the whole model's is float32[1x4]";
  trial.output_error = results::OutputError{INFINITY, INFINITY, 0};
  stored(wrong);
  const Done shown = run({"sweep", "--resume", "last", "--report", "none"});
  EXPECT_EQ(shown.code, kExitFailed);
  EXPECT_THAT(shown.err, HasSubstr(trial.failure));
}

TEST_F(StoredRuns, ARunThatIsBeingMeasuredIsLeftAlone) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  run.finished.clear();
  stored(run);
  auto lock = results::RunLock::try_take(path("results.db"), run.id);
  ASSERT_TRUE(lock && *lock);
  refused({"sweep", "--resume", "last"}, kExitEnvironment,
          AllOf(HasSubstr("run " + run.id), HasSubstr("being measured"), HasSubstr("Ctrl-C")));
  const Done looked = this->run({"front"});
  EXPECT_EQ(looked.code, kExitDone) << "it may be looked at";
  EXPECT_EQ(looked.err, "run " + run.id + " is being measured: these are its figures so far\n");
  lock->reset();
  const std::string goes_on =
      "run " + run.id + " is not finished; go on with: paretoctl sweep --resume " + run.id + "\n";
  EXPECT_EQ(this->run({"front", "--json"}).err, goes_on);
  EXPECT_THAT(this->run({"report", "--output", path("r.html")}).err, HasSubstr(goes_on));
  refused({"sweep", "--resume", "last"}, kExitUsage, HasSubstr("its flags cannot be read"));
}

TEST_F(StoredRuns, ARunGoesOnOnTheTestBedThatItBeganOn) {
  results::RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  run.finished.clear();
  KeptFlags flags;
  flags.model.model = "squeezenet1_0";
  flags.devices.testbed = std::string(PARETO_SOURCE_DIR) + "/configs/testbed/two-pi4.yaml";
  flags.testbed_content = "of other files";
  run.options_json = to_json(flags);
  stored(run);
  refused({"sweep", "--resume", "last"}, kExitUsage,
          AllOf(HasSubstr("run " + run.id), HasSubstr("on another test bed")));
  flags.testbed_content = "";
  run.id = "20260201-101502-cd34";
  run.options_json = to_json(flags);
  stored(run);
  refused({"sweep", "--resume", "last"}, kExitUsage, HasSubstr("without a test bed"));
}

}  // namespace
}  // namespace pareto::client::commands
