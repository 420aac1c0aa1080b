// The program behind main, inside the test: everything that needs no daemon. tests/e2e runs it as a process, with daemons.
#include "client/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "client/commands/kept_flags.h"
#include "client/commands/npy.h"
#include "client/results/run_lock.h"
#include "client/results/store.h"
#include "core/base/file.h"
#include "tests/client/support/program.h"
#include "tests/support/json_schema.h"
#include "tests/support/synthetic_run.h"

namespace pareto::client {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Program : public testing::Test {
 protected:
  Program() : folder_(TemporaryFolder::create("program").value()) {}

  Done run(const std::vector<std::string>& arguments) const {
    return run_in(folder_.path(), arguments);
  }

  /// Refused with this exit code, nothing on stdout, and one error that says why and names what is meant.
  void refused(const std::vector<std::string>& arguments, int code,
               const testing::Matcher<std::string>& sentence) const {
    const Done done = run(arguments);
    EXPECT_EQ(done.code, code) << done.err;
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, AllOf(StartsWith("paretoctl: "), sentence));
    EXPECT_EQ(done.err.rfind("paretoctl: "), 0U) << "more than once: " << done.err;
    EXPECT_TRUE(done.err.ends_with('\n'));
  }

  Done run_diff(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "diff");
    return run(arguments);
  }

  static std::vector<std::string> small(const std::string& command,
                                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{
        command, "--model", "squeezenet1_0", "--input-shape", "3x64x64", "--num-classes", "10"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  RunRecord stored_run(const test::SyntheticOptions& options = {}) const {
    return stored(test::synthetic_run(options));
  }

  RunRecord stored(RunRecord run) const {
    const auto store = ResultStore::open(path("results.db")).value();
    EXPECT_TRUE(store->begin_run(run));
    for (const TrialRecord& trial : run.trials) EXPECT_TRUE(store->put_trial(run, trial));
    EXPECT_TRUE(store->update_run(run));
    return run;
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(Program, EveryCommandHasHelpWithExamples) {
  const Done help = run({"--help"});
  EXPECT_EQ(help.code, kExitDone);
  EXPECT_THAT(help.out, HasSubstr("Exit codes"));
  for (const auto& command : builtin_commands()) {
    EXPECT_THAT(help.out, HasSubstr(std::string(command->name())));
    const Done own = run({std::string(command->name()), "--help"});
    EXPECT_EQ(own.code, kExitDone);
    EXPECT_THAT(own.out, AllOf(HasSubstr(std::string(command->summary())),
                               HasSubstr("paretoctl " + std::string(command->name()))));
    EXPECT_THAT(own.err, IsEmpty());
  }
}

TEST_F(Program, EveryCommandStandsInTheReadme) {
  const std::string readme =
      read_file(std::filesystem::path(PARETO_SOURCE_DIR) / "README.md").value();
  const std::string table = readme.substr(readme.find("## Commands"));
  for (const auto& command : builtin_commands()) {
    const std::string name(command->name());
    EXPECT_TRUE(table.find("`" + name + "`") != std::string::npos ||
                table.find("`paretoctl " + name + "`") != std::string::npos)
        << name;
  }
}

TEST_F(Program, TheManualAndTheCompletionsHaveEveryCommand) {
  const Done manual = run({"--manual"});
  const Done completion = run({"--completion", "bash"});
  EXPECT_EQ(manual.code, kExitDone);
  EXPECT_EQ(completion.code, kExitDone);
  EXPECT_THAT(manual.out, StartsWith(".\\\" Made by paretoctl --manual.\n.TH PARETOCTL 1 "));
  for (const auto& command : builtin_commands()) {
    const std::string name(command->name());
    EXPECT_THAT(manual.out, HasSubstr(".SS " + name + "\n"));
    EXPECT_THAT(completion.out, HasSubstr("    '" + name + "') flags='-h --help "));
  }
  refused({"--completion", "fish"}, kExitUsage, HasSubstr("fish"));
}

TEST_F(Program, AnExceptionIsAnErrorToo) {
  class NoSignals final : public StopSignal {
   public:
    const std::atomic<bool>& watch() override { throw std::runtime_error("no signals here"); }
  };
  std::ostringstream out;
  std::ostringstream err;
  NoSignals stop;
  Context context{.out = out,
                  .err = err,
                  .command_line = "paretoctl",
                  .paretod = path("no-paretod"),
                  .default_store = path("results.db"),
                  .stop = stop};
  EXPECT_EQ(run_program({"simulate", "s.yaml"}, context), kExitFailed);
  EXPECT_THAT(err.str(), StartsWith("paretoctl: simulate: unexpected: no signals here"));
}

TEST_F(Program, CommandLinesOfAnyBytesAreListed) {
  RunRecord record = test::synthetic_run({});
  record.command_line = "paretoctl sweep --report 'r\xe9s.html'";
  stored(record);
  const Done done = run({"runs", "--json"});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_EQ(json::parse(done.out)[0]["command_line"],
            "paretoctl sweep --report 'r\xEF\xBF\xBDs.html'");
}

TEST_F(Program, VersionAndNothing) {
  EXPECT_EQ(run({"--version"}).out, std::string(PARETO_VERSION) + "\n");
  EXPECT_EQ(run({}).code, kExitUsage);
}

TEST_F(Program, WrongWordsAreAnsweredWithTheNearest) {
  refused({"sweeep"}, kExitUsage, HasSubstr("did you mean sweep"));
  refused({"sweep", "--no-such-flag"}, kExitUsage, HasSubstr("--no-such-flag"));
  refused({"splits"}, kExitUsage, HasSubstr("--model"));
  refused({"splits", "--model", "mobilnetv2"}, kExitUsage, HasSubstr("mobilenetv2"));
  refused(small("splits", {"--splits", "after:features.33"}), kExitUsage,
          HasSubstr("after:features.3"));
  refused(small("sweep", {"--transport", "tpc"}), kExitUsage, HasSubstr("there are tcp, grpc"));
  refused(small("sweep", {"--engine", "plane"}), kExitUsage, HasSubstr("did you mean plain"));
}

TEST_F(Program, NumbersOutOfRange) {
  for (const char* flag :
       {"--batch", "--micro-batch", "--window", "--requests", "--rounds", "--stages"}) {
    refused(small("sweep", {flag, "0"}), kExitUsage, HasSubstr(std::string(flag) + " 0"));
  }
  refused(small("sweep", {"--threads", "257"}), kExitUsage, HasSubstr("--threads 257"));
  refused(small("sweep", {"--batch", "1,two"}), kExitUsage, HasSubstr("two"));
  refused(small("run", {"--batch", "2", "--micro-batch", "3"}), kExitUsage,
          HasSubstr("not above the batch of 2"));
  refused(small("sweep", {"--precision", "fp7"}), kExitUsage, HasSubstr("fp7"));
  refused(small("sweep", {"--metrics", "7074"}), kExitUsage, HasSubstr("metrics: \"7074\""));
  refused(small("verify", {"--batch", "0"}), kExitUsage, HasSubstr("--batch 0"));
  refused(small("splits", {"--batch", "-1"}), kExitUsage, HasSubstr("-1"));
}

TEST_F(Program, NobodyIsAskedWhoCouldNotBeWrittenDown) {
  std::ofstream(path("inventory.yaml")) << "mine";
  refused({"discover", "--write", path("inventory.yaml"), "--timeout", "60s"}, kExitUsage,
          AllOf(HasSubstr("--write"), HasSubstr("is there already")));
  for (const char* timeout : {"0", "61s", "soon"}) {
    refused({"discover", "--timeout", timeout}, kExitUsage, HasSubstr("--timeout"));
  }
}

TEST_F(Program, ARunThatGoesOnHasItsOwnFlags) {
  stored_run({.batches = {1}, .split_points = 1});
  for (const std::vector<std::string>& flag :
       std::vector<std::vector<std::string>>{{"--dry-run"},
                                             {"--adaptive"},
                                             {"--exhaustive"},
                                             {"--model", "vgg16"},
                                             {"--input", "3x64x64"},
                                             {"--rounds", "9"},
                                             {"--budget", "1m"},
                                             {"--batch", "8"},
                                             {"--network", "none"},
                                             {"--plans", "plan.json"}}) {
    std::vector<std::string> arguments{"sweep", "--resume", "last"};
    arguments.insert(arguments.end(), flag.begin(), flag.end());
    refused(arguments, kExitUsage, AllOf(HasSubstr(flag.front()), HasSubstr("--resume")));
  }
  const Done shown =
      run({"sweep", "--resume", "last", "--store", path("results.db"), "--devices",
           path("inventory.yaml"), "--report", "none", "--metrics", "127.0.0.1:0", "--json"});
  EXPECT_EQ(shown.code, kExitPartial) << shown.err << "a plan of it failed";
  EXPECT_THAT(shown.err, HasSubstr("is finished"));
}

TEST_F(Program, ARunThatIsBeingMeasuredIsLeftAlone) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  run.finished.clear();
  stored(run);
  auto lock = RunLock::try_take(path("results.db"), run.id);
  ASSERT_TRUE(lock && *lock);
  refused({"sweep", "--resume", "last"}, kExitEnvironment,
          AllOf(HasSubstr("run " + run.id), HasSubstr("being measured"), HasSubstr("Ctrl-C")));
  EXPECT_EQ(this->run({"front"}).code, kExitDone) << "it may be looked at";
  lock->reset();
  refused({"sweep", "--resume", "last"}, kExitUsage, HasSubstr("its flags cannot be read"));
}

TEST_F(Program, ARunGoesOnOnTheTestBedThatItBeganOn) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
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

TEST_F(Program, FlagsThatAPlanSaysItself) {
  for (const char* flag : {"--split", "--transport", "--codec", "--micro-batch", "--window",
                           "--batch", "--engine", "--precision", "--threads"}) {
    refused({"run", "--plan", path("plan.json"), flag, "2"}, kExitUsage,
            AllOf(HasSubstr("--plan"), HasSubstr(flag), HasSubstr("excludes")));
  }
  refused({"run", "--plan", path("plan.json"), "--requests", "0"}, kExitUsage,
          HasSubstr("--requests 0"));
}

TEST_F(Program, FlagsThatWouldBeForgotten) {
  const auto excluded = [&](const std::vector<std::string>& arguments, const std::string& one,
                            const std::string& other) {
    refused(arguments, kExitUsage, AllOf(HasSubstr(one), HasSubstr("excludes"), HasSubstr(other)));
  };
  excluded(small("sweep", {"--exhaustive", "--budget", "30s"}), "--exhaustive", "--budget");
  excluded({"sweep", "--plans", path("plan.json"), "--budget", "30s"}, "--plans", "--budget");
  for (const char* command : {"plan", "profile"}) {
    excluded(small(command, {"--local", "3", "--devices", path("inventory.yaml")}), "--local",
             "--devices");
    excluded(small(command, {"--local", "3", "--testbed", "two-pi4"}), "--local", "--testbed");
  }
  refused(small("verify", {"--engine", "plain", "--precision", "bf16"}), kExitUsage,
          AllOf(HasSubstr("--precision bf16"), HasSubstr("leave --engine out")));
}

TEST_F(Program, OnePlanIsSavedOfOneNetwork) {
  refused(small("plan", {"--save", path("plan.json"), "--network", "none,absent.yaml"}), kExitUsage,
          HasSubstr("--save takes one plan: name one --network, not 2"));
}

TEST_F(Program, InputsThatDoNotFit) {
  refused({"splits", "--model", "squeezenet1_0", "--input-shape", "3xfourx4"}, kExitUsage,
          HasSubstr("3xfourx4"));
  refused({"splits", "--model", "squeezenet1_0", "--input-shape", "5x64x64"}, kExitUsage,
          HasSubstr("5"));
  refused({"splits", "--model", path("absent.pt"), "--input-shape", "3x8x8"}, kExitUsage,
          HasSubstr("absent.pt"));
  std::ofstream(path("text.pt")) << "hello";
  refused({"splits", "--model", path("text.pt"), "--input-shape", "3x8x8"}, kExitUsage,
          HasSubstr("text.pt"));
  const auto tensor = Tensor::allocate(DType::kFloat64, {1, 3, 64, 64}).value();
  ASSERT_TRUE(write_npy(path("double.npy"), tensor));
  refused(small("run", {"--input", path("double.npy")}), kExitUsage,
          AllOf(HasSubstr("double.npy"), HasSubstr("float64"), HasSubstr("float32")));
  refused(small("run", {"--input", path("text.pt")}), kExitUsage, HasSubstr("no .npy file"));
}

TEST_F(Program, WhatTheEnvironmentRefuses) {
  refused(small("run"), kExitEnvironment, HasSubstr("no-paretod"));
  std::ofstream(path("inventory.yaml")) << "devices:\n  - name: ghost\n    address: 127.0.0.1:1\n";
  refused(small("sweep", {"--devices", path("inventory.yaml")}), kExitEnvironment,
          HasSubstr("ghost"));
  std::ofstream(path("typo.yaml")) << "devices:\n  - name: a\n    adress: b:1\n";
  refused(small("sweep", {"--devices", path("typo.yaml")}), kExitUsage, HasSubstr("typo.yaml:3"));
}

TEST_F(Program, ModelsListsThemForPeopleAndPrograms) {
  const Done table = run({"models"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("mobilenetv2"), HasSubstr("3x224x224")));
  const json list = json::parse(run({"models", "--json"}).out);
  EXPECT_GE(list.size(), 10U);
}

TEST_F(Program, SplitsMeasuresBothSidesWhereAsked) {
  const json timed = json::parse(run(small("splits", {"--time", "--json"})).out);
  const json& first = timed["splits"].front();
  const double whole = first["ms_before"].get<double>() + first["ms_after"].get<double>();
  EXPECT_GT(whole, 0);
  double last = 0;
  for (const json& point : timed["splits"]) {
    EXPECT_GT(point["ms_before"].get<double>(), last);
    last = point["ms_before"];
    EXPECT_NEAR(last + point["ms_after"].get<double>(), whole, 1e-9 * whole);
  }
  EXPECT_THAT(run(small("splits", {"--time"})).out, HasSubstr("ms before"));
  EXPECT_THAT(run(small("splits")).out, Not(HasSubstr("ms before")));
}

TEST_F(Program, SplitsShowsEveryPointAndItsCosts) {
  const json all = json::parse(run(small("splits", {"--json", "--all", "--batch", "2"})).out);
  EXPECT_EQ(all["splits"].size(), all["positions"].get<std::size_t>());
  EXPECT_EQ(all["operators"].get<std::size_t>(), all["splits"].size() + 1);
  std::size_t legal = 0;
  double last_flops = 0;
  for (const json& point : all["splits"]) {
    legal += point["legal"].get<bool>() ? 1 : 0;
    EXPECT_EQ(point["legal"].get<bool>(), point["reason"].get<std::string>().empty()) << point;
    EXPECT_GE(point["flops_before"].get<double>(), last_flops);
    last_flops = point["flops_before"];
    EXPECT_LE(
        point["weight_bytes_before"].get<double>() + point["weight_bytes_after"].get<double>(),
        1.01 * all["weight_bytes"].get<double>());
    EXPECT_FALSE(point["boundary"].empty());
  }
  const Done table = run(small("splits"));
  EXPECT_EQ(table.code, kExitDone) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("after:features.3 "), HasSubstr("float32[Bx"),
                               HasSubstr(std::to_string(legal) + " of them allowed")));
  const json one =
      json::parse(run(small("splits", {"--splits", "after:features.3", "--json"})).out);
  ASSERT_EQ(one["splits"].size(), 1U);
  EXPECT_EQ(one["splits"][0]["name"], "after:features.3");
}

TEST_F(Program, VerifyComparesAndSaysHowMany) {
  const Done done = run(small("verify", {"--splits", "modules", "--batch", "1,2"}));
  EXPECT_EQ(done.code, kExitDone) << done.out << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("batch 1"), HasSubstr("batch 2"), HasSubstr("bit for bit"),
                              HasSubstr("engine auto")));
}

TEST_F(Program, ViewsOfAStoredRun) {
  const RunRecord stored = stored_run();
  const json schema = json::parse(
      read_file(std::filesystem::path(PARETO_SOURCE_DIR) / "tests/golden/sweep.schema.json")
          .value());
  const Done front = run({"front", "--json", "last"});
  EXPECT_EQ(front.code, kExitDone);
  EXPECT_THAT(test::violations(schema, json::parse(front.out)), IsEmpty());
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
  EXPECT_THAT(run({"runs"}).out, HasSubstr(stored.command_line));
}

TEST_F(Program, DiffOfTwoStoredRuns) {
  RunRecord run = stored_run();
  const std::string first = run.id;
  run.id = "20260201-101502-cd34";
  TrialRecord& slower = run.trials[4];
  slower.latency.p50_ms *= 3;
  for (TrialRound& round : slower.rounds) {
    for (double& ms : round.latency_ms) ms *= 3;
  }
  run.trials[5].batch = 32;
  for (TrialRecord& trial : run.trials) trial.plan.precision = "bf16";
  stored(run);
  const Done table = run_diff({});
  EXPECT_EQ(table.code, kExitFailed) << table.err;
  EXPECT_THAT(table.out,
              AllOf(HasSubstr("A: run " + first), HasSubstr("B: run " + run.id),
                    HasSubstr("not the same: precision: fp32 in A, bf16 in B"),
                    HasSubstr("REGRESSED"), HasSubstr("1 regressed by more than 2 %"),
                    HasSubstr("only in A: after:features.5/tcp/b1"), HasSubstr("3.000 [")));
  EXPECT_EQ(run_diff({"--tolerance", "400%"}).code, kExitUsage);
  EXPECT_EQ(run_diff({"last", "last~1"}).code, kExitDone) << "now it is faster";
  EXPECT_THAT(run_diff({"last", "last~1"}).out, HasSubstr("1 faster"));

  const json schema = json::parse(
      read_file(std::filesystem::path(PARETO_SOURCE_DIR) / "tests/golden/diff.schema.json")
          .value());
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

TEST_F(Program, DiffOfWhatCannotBeCompared) {
  refused({"diff"}, kExitUsage, HasSubstr("holds no run"));
  RunRecord run = stored_run({.batches = {1}, .split_points = 2});
  refused({"diff"}, kExitUsage, HasSubstr("last~1"));
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

TEST_F(Program, PicturesOfAStoredRun) {
  stored_run({.batches = {1}, .split_points = 3});
  const std::string png = path("front.png");
  const std::string svg = path("front.svg");
  refused({"report", "--png", png, "--browser", "no-such-browser"}, kExitEnvironment,
          HasSubstr("apt install chromium"));
  refused({"report", "--png", png, "--condition", "wifi"}, kExitUsage,
          HasSubstr("none at batch 1"));
  refused({"report", "--png", png, "--width", "80"}, kExitUsage, HasSubstr("--width"));
  refused({"report", "--png", png, "--theme", "blue"}, kExitUsage, HasSubstr("--theme"));
  refused({"report", "--height", "800"}, kExitUsage, HasSubstr("--png"));
  EXPECT_FALSE(std::filesystem::exists(png));
  const Done done = run({"report", "--png", png, "--svg", svg, "--theme", "dark"});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_EQ(done.err, "picture: " + png + "\npicture: " + svg + "\n") << "and no page";
  EXPECT_THAT(read_file(png).value(), StartsWith("\x89PNG"));
  EXPECT_THAT(read_file(svg).value(), StartsWith("<svg"));
}

TEST_F(Program, ViewsOfWhatIsNotThere) {
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

TEST_F(Program, DoctorSaysWhatIsMissing) {
  const Done done = run({"doctor", "--json"});
  EXPECT_EQ(done.code, kExitEnvironment) << "there is no paretod here";
  const json schema = json::parse(
      read_file(std::filesystem::path(PARETO_SOURCE_DIR) / "tests/golden/doctor.schema.json")
          .value());
  const json document = json::parse(done.out);
  EXPECT_THAT(test::violations(schema, document), IsEmpty());
  EXPECT_EQ(document["well"], false);
  bool found = false;
  for (const json& finding : document["findings"]) {
    if (finding["check"] == "paretod") {
      found = true;
      EXPECT_EQ(finding["severity"], "fail");
      EXPECT_THAT(finding["found"].get<std::string>(), HasSubstr("no-paretod"));
      EXPECT_THAT(finding["remedy"].get<std::string>(), HasSubstr("install or build paretod"));
    }
    EXPECT_TRUE(finding["check"] != "results" || finding["severity"] == "ok") << finding;
  }
  EXPECT_TRUE(found);
  const Done text = run({"doctor", "127.0.0.1:1"});
  EXPECT_EQ(text.code, kExitEnvironment);
  EXPECT_THAT(
      text.out,
      AllOf(HasSubstr("\nWhat to do:\n"), HasSubstr("\n  127.0.0.1:1, answers: 127.0.0.1:1 "),
            HasSubstr("\n    start paretod there"), HasSubstr(", failures: 1\n")));
}

TEST(ExitCodes, SortErrorsByWhoCanMendThem) {
  EXPECT_EQ(exit_code_of(ErrorCode::kInvalidArgument), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kNotFound), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kCorrupt), kExitUsage);
  EXPECT_EQ(exit_code_of(ErrorCode::kPermission), kExitEnvironment);
  EXPECT_EQ(exit_code_of(ErrorCode::kUnavailable), kExitEnvironment);
  EXPECT_EQ(exit_code_of(ErrorCode::kExhausted), kExitFailed);
  EXPECT_EQ(exit_code_of(ErrorCode::kInternal), kExitFailed);
}

TEST(CommandLine, CanBeTypedAgain) {
  EXPECT_EQ(quoted_command_line({"sweep", "--model", "a b.pt", "it's", ""}),
            "paretoctl sweep --model 'a b.pt' 'it'\\''s' ''");
}

TEST(FindParetod, LooksBesideUsThenInThePath) {
  const auto folder = TemporaryFolder::create("find").value();
  const auto a = folder.path() / "a";
  const auto b = folder.path() / "b";
  std::filesystem::create_directories(a);
  std::filesystem::create_directories(b);
  const std::string path = a.string() + ":" + b.string();
  EXPECT_EQ(find_paretod(a / "paretoctl", path), "paretod");
  std::ofstream(b / "paretod") << "x";
  EXPECT_EQ(find_paretod(a / "paretoctl", path), b / "paretod");
  std::ofstream(a / "paretod") << "x";
  EXPECT_EQ(find_paretod(a / "paretoctl", ""), a / "paretod");
}

}  // namespace
}  // namespace pareto::client
