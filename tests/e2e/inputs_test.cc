// Models on the data that people give, against what Python makes of the same files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const std::string kLibrary = test::programs_folder() + "/extra_operators.so";

class Inputs : public EndToEnd {
 protected:
  void SetUp() override {
    const auto made =
        run({"/usr/bin/python3", std::string(PARETO_SOURCE_DIR) + "/tests/e2e/make_inputs.py",
             folder().string()});
    ASSERT_EQ(made.exit_code, 0) << "python3-torch is needed: " << made.errors;
  }

  std::string data(const std::string& name, int inputs) const {
    std::string files;
    for (int i = 0; i < inputs; ++i) {
      files += (i > 0 ? "," : "") + path(name + "_" + std::to_string(i) + ".npy");
    }
    return files;
  }

  void expect_verified(const std::string& name, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"verify", "--model", path(name + ".pt"), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = paretoctl(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    const json result = json::parse(done.output);
    EXPECT_FALSE(result["plain"].empty());
    for (const json& row : result["plain"]) EXPECT_TRUE(row["bit_equal"]) << row.dump();
  }

  /// Runs it cut in the middle, in the plain engine, and compares what is written with Python's.
  void expect_as_python(const std::string& name, const std::vector<std::string>& outputs,
                        const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{
        "run",           "--model", path(name + ".pt"), "--split", "percent:50",
        "--engine",      "plain",   "--requests",       "2",       "--output",
        path("out.npy"), "--json",  "--transport",      "tcp"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = paretoctl(arguments);
    ASSERT_EQ(done.exit_code, 0) << done.errors;
    for (const std::string& suffix : outputs) {
      expect_near(path("out" + suffix + ".npy"), path(name + "_expected" + suffix + ".npy"));
    }
  }

  /// Compares the numbers of two files. Both have a header of 128 bytes.
  static void expect_near(const std::string& found, const std::string& expected) {
    const std::string one = slurp(found);
    const std::string other = slurp(expected);
    ASSERT_GT(other.size(), 128U);
    ASSERT_EQ(one.size(), other.size()) << found;
    for (std::size_t at = 128; at < one.size(); at += sizeof(float)) {
      float a = 0;
      float b = 0;
      std::memcpy(&a, one.data() + at, sizeof a);
      std::memcpy(&b, other.data() + at, sizeof b);
      ASSERT_NEAR(a, b, 1e-5 * std::max(1.0F, std::abs(b))) << found << " at " << at;
    }
  }
};

TEST_F(Inputs, AModelIsExaminedVerifiedAndRunOnTheData) {
  const auto zeros =
      paretoctl({"splits", "--model", path("lengths.pt"), "--input-shape", "7:int64;scalar:int64"});
  EXPECT_EQ(zeros.exit_code, 2);
  EXPECT_THAT(zeros.errors, AllOf(HasSubstr("example integers are zeros"),
                                  HasSubstr("--input FILE.npy"), HasSubstr("=1..39")));
  expect_verified("lengths", {"--input", data("lengths", 2)});
  expect_as_python("lengths", {""}, {"--input", data("lengths", 2)});
  expect_verified("lengths", {"--input-shape", "7:int64=1..39;scalar:int64=7", "--batch", "1,3"});
}

TEST_F(Inputs, WhatAModelNeedsIsRemembered) {
  const auto first =
      paretoctl({"splits", "--model", path("lengths.pt"), "--input", data("lengths", 2)});
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_THAT(first.errors, testing::Not(HasSubstr("as it last was")));
  // The same file elsewhere.
  std::filesystem::copy_file(path("lengths.pt"), path("copy.pt"));
  const auto again = paretoctl({"splits", "--model", path("copy.pt")});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors,
              HasSubstr("copy.pt is opened as it last was: --input " + path("lengths_0.npy")));
  std::filesystem::remove(path("lengths_0.npy"));
  const auto without = paretoctl({"splits", "--model", path("copy.pt")});
  EXPECT_EQ(without.exit_code, 0) << without.errors;
  EXPECT_THAT(without.errors, HasSubstr("made-up inputs of its shape are used"));
}

TEST_F(Inputs, AModelIsSweptProfiledAndPlannedOnTheData) {
  const std::string model = path("lengths.pt");
  const auto swept = paretoctl({"sweep", "--model", model, "--input", data("lengths", 2),
                                "--splits", "percent:40", "--transport", "tcp", "--rounds", "1",
                                "--requests", "3", "--predict", "--report", "none", "--json"});
  ASSERT_EQ(swept.exit_code, 0) << swept.errors << swept.output;
  for (const json& trial : json::parse(swept.output)["trials"]) {
    EXPECT_EQ(trial["status"], "ok") << trial.dump(1);
    EXPECT_EQ(trial["batch"], 3) << "that of the data";
    EXPECT_LT(trial["output_error"]["max"].get<double>(), 1e-5);
  }
  const auto planned = paretoctl({"plan", "--model", model, "--splits", "percent:40", "--save",
                                  path("plan.json"), "--max-latency", "10s"});
  EXPECT_EQ(planned.exit_code, 0) << planned.errors;
  const json plan = json::parse(slurp(path("plan.json")));
  EXPECT_EQ(plan["batch"], 3);
  EXPECT_EQ(plan["model_source"]["inputs"], json({path("lengths_0.npy"), path("lengths_1.npy")}));
  EXPECT_THAT(plan["model_source"]["input_shape"].get<std::string>(),
              testing::EndsWith(";scalar:int64=4..7"))
      << "what is made up elsewhere";
  const auto deployed =
      paretoctl({"deploy", "--plan", path("plan.json"), "--output", path("results"),
                 path("lengths_0.npy") + ";" + path("lengths_1.npy")});
  EXPECT_EQ(deployed.exit_code, 0) << deployed.errors;
  expect_near(path("results/lengths_0.npy"), path("lengths_expected.npy"));
}

TEST_F(Inputs, DevicesAreNotGivenOtherIntegersThanTheData) {
  const auto profiled = paretoctl({"profile", "--model", path("labels.pt"), "--input",
                                   data("labels", 1), "--splits", "all", "--json"});
  EXPECT_EQ(profiled.exit_code, 0) << profiled.errors;
  expect_as_python("labels", {""}, {"--input", data("labels", 1)});
}

TEST_F(Inputs, LibrariesOfOperatorsAreRemembered) {
  const std::string model = path("tripled.pt");
  const auto without = paretoctl({"splits", "--model", model, "--input-shape", "4"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.errors, HasSubstr("--operators LIB.so"));
  const auto planned =
      paretoctl({"run", "--model", model, "--input-shape", "4", "--operators", kLibrary, "--split",
                 "percent:50", "--requests", "2", "--save-plan", path("plan.json")});
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_EQ(json::parse(slurp(path("plan.json")))["model_source"]["operators"], json({kLibrary}));
  const auto again = paretoctl({"run", "--plan", path("plan.json"), "--requests", "2"});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("is opened as it last was: --operators " + kLibrary));
  // Where nobody has named it, a plan does not load code.
  std::filesystem::remove_all(path("data"));
  const auto elsewhere = paretoctl({"run", "--plan", path("plan.json"), "--requests", "2"});
  EXPECT_EQ(elsewhere.exit_code, 2) << elsewhere.output;
  EXPECT_THAT(elsewhere.errors, AllOf(HasSubstr("the plan was made with --operators " + kLibrary),
                                      HasSubstr("needs the library pareto_test")));
  const auto named =
      paretoctl({"run", "--plan", path("plan.json"), "--operators", kLibrary, "--requests", "2"});
  EXPECT_EQ(named.exit_code, 0) << named.errors;
}

TEST_F(Inputs, OneBatchOnlyIsSaidAndUsed) {
  const auto named =
      paretoctl({"splits", "--model", path("fixed8.pt"), "--input-shape", "6", "--batch", "8"});
  EXPECT_EQ(named.exit_code, 0) << named.errors;
  EXPECT_THAT(named.errors, HasSubstr("fixed8 runs at batch 8 only"));
  const auto listed = paretoctl({"splits", "--model", path("fixed8.pt"), "--json"});
  EXPECT_EQ(json::parse(listed.output)["only_batch"], 8);
  const auto several = paretoctl({"splits", "--model", "squeezenet1_0", "--json"});
  EXPECT_TRUE(json::parse(several.output)["only_batch"].is_null());
  expect_verified("fixed8", {"--input-shape", "6"});
  expect_as_python("fixed8", {""}, {"--input", data("fixed8", 1)});
  const auto other = paretoctl({"verify", "--model", path("fixed8.pt"), "--batch", "2"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.errors, HasSubstr("--batch 2: fixed8 runs at batch 8 only"));
  expect_verified("four_or_one", {"--input", data("four_or_one", 1)});
  expect_as_python("four_or_one", {""}, {"--input", data("four_or_one", 1)});
}

TEST_F(Inputs, TheBatchMayStandAnywhereAndAllOutputsAreWritten) {
  const std::string shape = "Bx5x6;2xBx8";
  expect_verified("recurrent", {"--input-shape", shape});
  expect_as_python("recurrent", {".0", ".1"},
                   {"--input-shape", shape, "--input", data("recurrent", 2)});
  const auto unsaid = paretoctl({"run", "--model", path("recurrent.pt"), "--split", "percent:50",
                                 "--input", data("recurrent", 2)});
  EXPECT_EQ(unsaid.exit_code, 2);
  EXPECT_THAT(unsaid.errors, HasSubstr("--input-shape \"Bx5x6;2xBx8\""));
  const auto parts = paretoctl({"run", "--model", path("recurrent.pt"), "--input-shape", shape,
                                "--split", "percent:50", "--batch", "2", "--micro-batch", "1"});
  EXPECT_EQ(parts.exit_code, 2);
  EXPECT_THAT(parts.errors, HasSubstr("float32[2xBx8]"));
}

TEST_F(Inputs, ABatchIsNotCutIfItsSamplesAreNotComputedAlone) {
  const auto run = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run",           "--model", path(name + ".pt"),
                                       "--input-shape", "6",       "--split",
                                       "after:first",   "--batch", "8",
                                       "--requests",    "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return paretoctl(arguments);
  };
  const auto parts = run("together", {"--micro-batch", "2"});
  EXPECT_EQ(parts.exit_code, 2) << parts.output;
  EXPECT_THAT(parts.errors, AllOf(HasSubstr("--micro-batch 2"), HasSubstr("by itself"),
                                  HasSubstr("a batch of 8 in parts of 2")));
  EXPECT_EQ(run("counting", {"--schedule", "overlap"}).exit_code, 2);
  const auto whole = run("counting", {"--save-plan", path("whole.json")});
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  json plan = json::parse(slurp(path("whole.json")));
  plan["micro_batch"] = 4;
  std::ofstream(path("parts.json")) << plan.dump();
  const auto deployed = paretoctl({"deploy", "--plan", path("parts.json"), data("counting", 1)});
  EXPECT_EQ(deployed.exit_code, 2) << deployed.output;
  EXPECT_THAT(deployed.errors, HasSubstr("by itself"));
}

TEST_F(Inputs, AZeroThatEmptiesTheRequestIsSaid) {
  const std::string model = path("emptied.pt");
  const auto done = paretoctl({"splits", "--model", model, "--input-shape", "3x4;scalar:int64"});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_THAT(done.errors, AllOf(HasSubstr("example integers are zeros"),
                                 HasSubstr("a result is empty (float32[Bx0x4])")));
  const auto given = paretoctl({"splits", "--model", model, "--input", data("emptied", 2)});
  EXPECT_EQ(given.exit_code, 0) << given.errors;
  EXPECT_THAT(given.errors, testing::Not(HasSubstr("zeros")));
}

TEST_F(Inputs, AnOutputThatCannotBeWrittenIsRefusedBeforeTheRun) {
  for (const char* flag : {"--output", "--trace", "--save-plan"}) {
    const auto done = paretoctl({"run", "--model", path("fixed8.pt"), "--input", data("fixed8", 1),
                                 "--split", "percent:50", flag, path("absent/out.npy")});
    EXPECT_EQ(done.exit_code, 2) << done.errors;
    EXPECT_EQ(done.output, "");
    EXPECT_THAT(done.errors, AllOf(HasSubstr(flag), HasSubstr("absent")));
  }
}

TEST_F(Inputs, FilesAreWhatTheyAre) {
  std::filesystem::copy_file(path("fixed8.pt"), path("named.torchscript"));
  std::filesystem::copy_file(path("fixed8.pt"), path("noextension"));
  for (const char* name : {"named.torchscript", "noextension"}) {
    const auto done = run({"/bin/sh", "-c",
                           "cd " + folder().string() + " && " + test::programs_folder() +
                               "/paretoctl splits --input-shape 6 --model " + name});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
  }
  const auto weights = paretoctl({"splits", "--model", path("weights.pt"), "--input-shape", "6"});
  EXPECT_EQ(weights.exit_code, 2);
  EXPECT_THAT(weights.errors, HasSubstr("--weights FILE"));
  const auto module = paretoctl({"splits", "--model", path("module.pt"), "--input-shape", "6"});
  EXPECT_EQ(module.exit_code, 2);
  EXPECT_THAT(module.errors, HasSubstr("needs its Python classes"));
}

}  // namespace
}  // namespace pareto::test
