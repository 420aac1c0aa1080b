#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.h"
#include "runtime/schedules/program.h"

namespace pareto::schedules {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::filesystem::path samples() { return PARETO_SOURCE_DIR "/configs/schedules"; }

constexpr const char* kEveryKey = R"(units:
  - {name: stem, modules: [features.0, "features.1"], except: ["features.0.1"], join: true, tags: [compute], worker: left}
  - {operators: ["*pool*"], modules: ["**"], tags: [memory, mine]}
  - {sequence: [conv2d, relu]}
split: {parts: 4, at_least: 3, only: [mine, other]}
order: [{tag: memory}, {part: later}, {path: shortest}, {part: earlier}, {path: longest}]
workers:
  - {name: left, takes: [compute, network]}
  - {name: right}
most_memory: 64 MiB
)";

TEST(Program, EveryKey) {
  const auto program = program_from_yaml(kEveryKey, "p.yaml");
  ASSERT_TRUE(program) << program.error().message;
  using By = OrderRule::By;
  const Program expected{
      .units = {{.name = "stem",
                 .modules = {"features.0", "features.1"},
                 .except = {"features.0.1"},
                 .join = true,
                 .tags = {"compute"},
                 .worker = "left"},
                {.modules = {"**"}, .operators = {"*pool*"}, .tags = {"memory", "mine"}},
                {.sequence = {"conv2d", "relu"}, .tags = {"other"}}},
      .split = {.parts = 4, .at_least = 3, .only = {"mine", "other"}},
      .order = {{.by = By::kTag, .tag = "memory"},
                {.by = By::kPart, .reversed = true},
                {.by = By::kPath, .reversed = true},
                {.by = By::kPart},
                {.by = By::kPath}},
      .workers = {{.name = "left", .takes = {"compute", "network"}}, {.name = "right"}},
      .most_memory = 64 << 20};
  EXPECT_EQ(*program, expected);
}

TEST(Program, AnEmptyFileIsAProgramOfNothing) {
  for (const std::string text : {"", "{}", "# nothing\n"}) {
    const auto program = program_from_yaml(text, "p.yaml");
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(*program, Program{});
  }
}

TEST(Program, ItsJsonSaysTheSameToBothReaders) {
  const auto program = program_from_yaml(kEveryKey, "p.yaml");
  ASSERT_TRUE(program);
  const std::string json = to_json(*program);
  const auto again = program_from_json(json);
  ASSERT_TRUE(again) << again.error().message << "\n" << json;
  EXPECT_EQ(*again, *program);
  const auto as_yaml = program_from_yaml(json, "p.json");
  ASSERT_TRUE(as_yaml) << as_yaml.error().message;
  EXPECT_EQ(*as_yaml, *program);
  EXPECT_EQ(to_json(*again), json);
}

TEST(Program, TheSamplesAreWellAndShort) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(samples())) {
    const auto text = read_file(entry.path(), 1 << 20);
    ASSERT_TRUE(text);
    EXPECT_LE(std::ranges::count(*text, '\n'), 40) << entry.path();
    const auto program = program_from_yaml(*text, entry.path().string());
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program_from_json(to_json(*program)), *program) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 3);
}

void expect_refused(const std::string& text, const testing::Matcher<std::string>& sentence) {
  const auto program = program_from_yaml(text, "p.yaml");
  ASSERT_FALSE(program) << text;
  EXPECT_EQ(program.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(program.error().message, AllOf(HasSubstr("p.yaml"), sentence)) << text;
}

TEST(Program, UnknownKeysAreRefusedWithTheirLineAndTheNearest) {
  expect_refused("split:\n  part: 2\n",
                 AllOf(HasSubstr("p.yaml:2"), HasSubstr("(did you mean parts?)"),
                       HasSubstr("unknown key \"split.part\"")));
}

TEST(Program, WhatIsWrongIsSaidWithItsPlace) {
  expect_refused("\n\nunits: [{tags: [memory]}]",
                 AllOf(HasSubstr("p.yaml:3"), HasSubstr("\"units[0].modules\": is needed")));
  expect_refused("units: [{modules: a, tags: [b]}]", HasSubstr("should be a list of texts"));
  expect_refused("units: [{modules: ['']}]", HasSubstr("of 1 to 256 printable bytes"));
  expect_refused("units: [{modules: [\"a\\u0007\"]}]", HasSubstr("printable"));
  expect_refused("units: [{sequence: [a, b], join: true}]", HasSubstr("leave out operators and"));
  expect_refused("units: [{sequence: [a], operators: [b]}]", HasSubstr("leave out operators and"));
  expect_refused("split: {parts: 0}", HasSubstr("\"split.parts\": should be 1 to 64"));
  expect_refused("split: {parts: 65}", HasSubstr("\"split.parts\": should be 1 to 64"));
  expect_refused("split: {parts: two}", HasSubstr("whole number"));
  expect_refused("split: {at_least: 65537}", HasSubstr("\"split.at_least\": should be 1 to 65536"));
  expect_refused("order: [{}]", HasSubstr("is needed, or part or path"));
  expect_refused("order: [{part: earlier, path: longest}]", HasSubstr("one of them"));
  expect_refused("order: [{part: first}]", HasSubstr("should be earlier or later"));
  expect_refused("order: [{path: longer}]", HasSubstr("should be longest or shortest"));
  expect_refused("workers: [{takes: [memory]}]", HasSubstr("\"workers[0].name\" is missing"));
  expect_refused("workers: [{name: a}, {name: a}]", HasSubstr("the name of two workers"));
  expect_refused("most_memory: 0", HasSubstr("should be above 0"));
  for (const char* key : {"modules", "except", "operators", "tags"}) {
    expect_refused(fmt::format("units: [{{{}: [], sequence: [a]}}]", key),
                   HasSubstr(fmt::format("\"units[0].{}\": has nothing in it", key)));
  }
  expect_refused("split: {only: []}", HasSubstr("\"split.only\": has nothing in it"));
  expect_refused("workers: [{name: a, takes: []}]", HasSubstr("has nothing in it"));
  expect_refused("split: {parts: 2}\nsplit: {parts: 3}", HasSubstr("\"split\" stands here again"));
  expect_refused("most_memory: much", HasSubstr("most_memory"));
  expect_refused("units: [{modules: [*.conv]}]",
                 AllOf(HasSubstr("p.yaml:1:20"), HasSubstr("begins with * in quotes")));
}

TEST(Program, AWorkerThatIsNotThere) {
  expect_refused("units: [{modules: [a], worker: lift}]\nworkers: [{name: left}, {name: right}]",
                 HasSubstr("there is no worker \"lift\" (did you mean left?)"));
}

TEST(Program, ATagThatNoRuleGives) {
  const std::string units = "units: [{modules: [a], tags: [mine]}]\n";
  expect_refused(units + "workers: [{name: a, takes: [mind]}]",
                 HasSubstr("\"workers[0].takes\": no rule gives the tag \"mind\" (did you mean"));
  expect_refused(units + "order: [{tag: mind}]", HasSubstr("\"order[0].tag\": no rule gives"));
  expect_refused(units + "split: {only: [mind]}", HasSubstr("\"split.only\": no rule gives"));
}

TEST(Program, Limits) {
  const auto many = [](const std::string& key, const std::string& item, int count) {
    std::string text = key + ":\n";
    for (int i = 0; i < count; ++i) text += fmt::format(fmt::runtime("  - " + item + "\n"), i);
    return text;
  };
  EXPECT_TRUE(program_from_yaml(many("units", "{{modules: [m{}]}}", 256), "p.yaml"));
  expect_refused(many("units", "{{modules: [m{}]}}", 257), HasSubstr("there may be 256"));
  EXPECT_TRUE(program_from_yaml(many("workers", "{{name: w{}}}", 64), "p.yaml"));
  expect_refused(many("workers", "{{name: w{}}}", 65), HasSubstr("there may be 64"));
  expect_refused(many("order", "{{part: later}}", 65), HasSubstr("there may be 64"));
  expect_refused("units: [{modules: [" + std::string(257, 'a') + "]}]", HasSubstr("256 printable"));
  std::string list = "a";
  for (int i = 0; i < 64; ++i) list += ", a";
  expect_refused("units: [{modules: [" + list + "]}]", HasSubstr("at most 64 texts"));
  expect_refused("# " + std::string(256 << 10, 'x'), HasSubstr("a program has at most 256 KiB"));
}

}  // namespace
}  // namespace pareto::schedules
