#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "client/flags/device_flags.h"
#include "client/flags/model_flags.h"
#include "client/flags/network_flag.h"
#include "client/flags/runner_flags.h"
#include "client/flags/schedule_flag.h"
#include "client/flags/time_flags.h"
#include "coordinator/load/lost_request.h"
#include "core/base/file.h"
#include "runtime/shard_runner.h"

namespace pareto::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Flags, ABudgetIsOfSecondsMinutesOrHours) {
  EXPECT_EQ(parse_budget("90s").value(), 90);
  EXPECT_EQ(parse_budget("5m").value(), 300);
  EXPECT_EQ(parse_budget("5min").value(), 300);
  EXPECT_EQ(parse_budget("1.5h").value(), 5400);
  for (const char* text : {"", "5", "soon", "m", "-5m"}) {
    EXPECT_THAT(parse_budget(text).error().message, HasSubstr("--budget")) << text;
  }
  for (const char* text : {"0s", "0m", "0h"}) {
    EXPECT_THAT(parse_budget(text).error().message, HasSubstr("leaves no time")) << text;
  }
}

TEST(Flags, TwoFilesOfOneNameAreRefused) {
  const auto folder = TemporaryFolder::create("pareto-flags");
  ASSERT_TRUE(folder);
  std::vector<std::string> files;
  for (const char* place : {"a", "b"}) {
    std::filesystem::create_directory(folder->path() / place);
    files.push_back(folder->path() / place / "lte.yaml");
    ASSERT_TRUE(write_file_atomically(files.back(), "delay: 50ms\n"));
  }
  EXPECT_TRUE(read_conditions("none," + files[0]));
  const auto both = read_conditions(files[0] + "," + files[1]);
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, AllOf(HasSubstr(files[0]), HasSubstr(files[1])));
}

TEST(Flags, NetworksHaveNames) {
  const auto conditions = read_conditions("none,wifi,lte");
  ASSERT_TRUE(conditions) << conditions.error().message;
  ASSERT_EQ(conditions->size(), 2U);
  EXPECT_EQ(conditions->front().name, "wifi");
  EXPECT_EQ(conditions->front().condition.forward.delay, std::chrono::milliseconds(3));
  EXPECT_THAT(read_conditions("wfi").error().message,
              AllOf(HasSubstr("--network"), HasSubstr("did you mean wifi")));
}

TEST(Flags, SettingsAreAllCombinationsOfTheListsOnce) {
  const SettingLists lists{"8,1,8", "0,2", "fp32,bf16"};
  const auto all = lists.read("plain");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(*all, (std::vector<control::ShardSettings>{{{"plain", "fp32", 0}, 8},
                                                       {{"plain", "bf16", 0}, 8},
                                                       {{"plain", "fp32", 2}, 8},
                                                       {{"plain", "bf16", 2}, 8},
                                                       {{"plain", "fp32", 0}, 1},
                                                       {{"plain", "bf16", 0}, 1},
                                                       {{"plain", "fp32", 2}, 1},
                                                       {{"plain", "bf16", 2}, 1}}));
  EXPECT_EQ(SettingLists().read("auto").value(), std::vector<control::ShardSettings>(1));
  const SettingLists schedules{.schedules = "sequential,mixed,sequential"};
  EXPECT_EQ(schedules.read("auto").value(),
            (std::vector<control::ShardSettings>{{}, {{.schedule = "mixed"}}}));
}

TEST(Flags, PlansAndSweepsTakeListsOfThreadsAndSchedules) {
  const RunnerLists lists{
      .precision = "bf16", .threads = "2,1,2", .schedules = "sequential,clusters"};
  const auto all = lists.settings();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(*all, (std::vector<plan::StageSettings>{{"auto", "bf16", 2},
                                                    {"auto", "bf16", 2, 0, "clusters"},
                                                    {"auto", "bf16", 1},
                                                    {"auto", "bf16", 1, 0, "clusters"}}));
  EXPECT_EQ(RunnerLists().settings().value(), std::vector<plan::StageSettings>(1));
  const auto refusal = [](const RunnerLists& wrong) { return wrong.settings().error().message; };
  EXPECT_THAT(refusal({.threads = "1,-2"}), HasSubstr("--threads -2"));
  EXPECT_THAT(refusal({.schedules = "mixed,clustres"}), HasSubstr("did you mean clusters"));
  EXPECT_THAT(refusal({.threads = ","}), HasSubstr("--threads names none"));
  EXPECT_THAT(refusal({.engine = "plane"}), HasSubstr("did you mean plain"));
}

TEST(Flags, AScheduleIsANameOrAFile) {
  EXPECT_EQ(read_schedule("sequential").value(), "sequential");
  EXPECT_EQ(read_schedule("auto").value(), "auto");
  EXPECT_EQ(read_schedule("clustres").error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(read_schedule("program").error().message, HasSubstr("files of programs"));
  const auto folder = TemporaryFolder::create("pareto-flags");
  ASSERT_TRUE(folder);
  // One program, written in two ways, is one text.
  const std::string yaml = folder->path() / "mine.yaml";
  const std::string json = folder->path() / "mine.json";
  ASSERT_TRUE(write_file_atomically(yaml, "split: {at_least: 2, parts: 2}\n"));
  ASSERT_TRUE(write_file_atomically(json, R"({"split": {"parts": 2, "at_least": 2}})"));
  const auto read = read_schedule(yaml);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(plan::is_program(*read));
  EXPECT_EQ(read_schedule(json).value(), *read);
  EXPECT_TRUE(read_schedule(*read)) << "as a plan has it";
  EXPECT_FALSE(read_schedule("{\"unts\":[]}"));
}

TEST(Flags, AnErrorLimitIsAShareOrAPercentage) {
  EXPECT_EQ(parse_max_error("5%").value(), 0) << "the default is left to the device";
  EXPECT_DOUBLE_EQ(parse_max_error("2.5%").value(), 0.025);
  EXPECT_DOUBLE_EQ(parse_max_error("0.01").value(), 0.01);
  EXPECT_DOUBLE_EQ(parse_max_error("100%").value(), 1);
  for (const char* wrong : {"", "%", "0", "-1%", "101%", "1.5", "nan", "five", "5 %", "5%%"}) {
    const auto limit = parse_max_error(wrong);
    ASSERT_FALSE(limit) << wrong;
    EXPECT_EQ(limit.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(limit.error().message, HasSubstr("--max-error " + std::string(wrong)));
  }
}

TEST(Flags, TheDefaultErrorLimitIsTheRuntimes) {
  EXPECT_EQ(fmt::format("{:g}%", 100 * runtime::kDefaultMaxError), kDefaultMaxErrorText);
}

TEST(Flags, SettingsThatAreNoneAreNamed) {
  const auto refusal = [](const SettingLists& lists) {
    const auto all = lists.read("auto");
    return all ? "" : all.error().message;
  };
  EXPECT_THAT(refusal({"1,0", "0", "fp32"}), HasSubstr("--batch 0"));
  EXPECT_THAT(refusal({"1", "1,two", "fp32"}), HasSubstr("--threads two"));
  EXPECT_THAT(refusal({"1", "257", "fp32"}), HasSubstr("--threads 257"));
  EXPECT_THAT(refusal({"1", "0", "fp32,fp7"}), AllOf(HasSubstr("--precision"), HasSubstr("fp7")));
  EXPECT_THAT(refusal({"", "0", "fp32"}), HasSubstr("--batch"));
  EXPECT_THAT(refusal({"1", "", "fp32"}), HasSubstr("--threads"));
  EXPECT_THAT(refusal({"1", "0", ""}), HasSubstr("--precision"));
  EXPECT_THAT(refusal({.schedules = ""}), HasSubstr("--schedule"));
  EXPECT_THAT(refusal({.schedules = "mixed,clustres"}), HasSubstr("did you mean clusters"));
}

TEST(Flags, ATimeoutIsOfMillisecondsToADay) {
  TimeoutFlag flag;
  EXPECT_EQ(flag.read().value(), load::kRequestTimeout);
  const auto read = [&](const char* text) {
    flag.timeout = text;
    return flag.read();
  };
  EXPECT_EQ(read("90s").value(), std::chrono::seconds(90));
  EXPECT_EQ(read("5m").value(), std::chrono::minutes(5));
  EXPECT_EQ(read("250ms").value(), std::chrono::milliseconds(250));
  for (const char* text : {"", "30", "0s", "25h", "-1s"}) {
    const auto refused = read(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("--timeout")) << text;
  }
}

TEST(Flags, WhatAPlanSaysOfItsModelNeedNotBeSaidAgain) {
  const plan::ModelSource kept{"/models/swin.pt", "3x64x64", 10, "/models/best.pth", 7};
  ModelFlags none;
  none.complete(kept);
  EXPECT_EQ(none.source(), kept);
  ModelFlags some;
  some.weights = "/models/other.pth";
  some.model_seed = 8;
  some.complete(kept);
  EXPECT_EQ(some.source(),
            (plan::ModelSource{"/models/swin.pt", "3x64x64", 10, "/models/other.pth", 8}));
  ModelFlags relative;
  relative.model = "nets/../swin.pt";
  relative.weights = "best.pth";
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(relative.source().model, here + "/swin.pt");
  EXPECT_EQ(relative.source().weights, here + "/best.pth");
  ModelFlags builtin;
  builtin.model = "vgg16";
  EXPECT_EQ(builtin.source(), plan::ModelSource{.model = "vgg16"});
}

}  // namespace
}  // namespace pareto::client
