#include "client/flags/kept_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace pareto::client {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// Returns the path of a file where the tests run, which is not where a run may be resumed.
std::string here(const std::string& file) {
  return (std::filesystem::current_path() / file).string();
}

KeptFlags some_flags() {
  KeptFlags flags;
  flags.options.splits = "percent:40";
  flags.options.rounds = 7;
  flags.model.model = "nets/swin.pt";
  flags.model.input_shape = "3x64x64";
  flags.model.inputs = {"photo.npy"};
  flags.model.num_classes = 10;
  flags.model.weights = "weights.pth";
  flags.model.model_seed = 5;
  flags.model.operators = {"lib/nms.so"};
  flags.devices.inventory = "inventory.yaml";
  flags.devices.testbed = "beds/two.yaml";
  flags.testbed_content = "abc";
  flags.max_latency_ms = 50;
  flags.figures = {{"pi-1", {{"power", 5000}, {"price_per_hour", 20}}}};
  flags.objectives = {"memory", "latency"};
  return flags;
}

results::RunRecord run_with(const std::string& options) {
  results::RunRecord run;
  run.id = "20260131-101502-ab12";
  run.options_json = options;
  return run;
}

TEST(KeptFlags, ComeBackWithTheirFilesWhereverThatIs) {
  const auto kept = kept_flags(run_with(to_json(some_flags())));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(to_json(kept->options), to_json(some_flags().options));
  EXPECT_EQ(kept->model.model, here("nets/swin.pt"));
  EXPECT_EQ(kept->model.input_shape, "3x64x64");
  EXPECT_THAT(kept->model.inputs, testing::ElementsAre(here("photo.npy")));
  EXPECT_EQ(kept->model.num_classes, 10);
  EXPECT_EQ(kept->model.weights, here("weights.pth"));
  EXPECT_EQ(kept->model.model_seed, 5U);
  EXPECT_THAT(kept->model.operators, testing::ElementsAre(here("lib/nms.so")));
  EXPECT_EQ(kept->devices.inventory, here("inventory.yaml"));
  EXPECT_EQ(kept->devices.testbed, here("beds/two.yaml"));
  EXPECT_EQ(kept->testbed_content, "abc");
  EXPECT_EQ(kept->max_latency_ms, 50);
  EXPECT_EQ(kept->figures, some_flags().figures);
  EXPECT_EQ(kept->objectives, some_flags().objectives);
}

TEST(KeptFlags, AReportIsKeptByItsWholePath) {
  KeptFlags flags = some_flags();
  EXPECT_EQ(kept_flags(run_with(to_json(flags)))->report, "");
  flags.report = "front.html";
  EXPECT_EQ(kept_flags(run_with(to_json(flags)))->report, here("front.html"));
  flags.report = "none";
  EXPECT_EQ(kept_flags(run_with(to_json(flags)))->report, "none");
}

TEST(KeptFlags, AddressesAreNoFile) {
  KeptFlags flags = some_flags();
  flags.devices.inventory = "a:7070,b:7070";
  EXPECT_EQ(kept_flags(run_with(to_json(flags)))->devices.inventory, "a:7070,b:7070");
}

TEST(KeptFlags, NamesAreNoFiles) {
  KeptFlags flags;
  flags.model.model = "mobilenetv2";
  flags.devices.testbed = "two-pi4";
  const auto kept = kept_flags(run_with(to_json(flags)));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->model.model, "mobilenetv2");
  EXPECT_EQ(kept->model.weights, "");
  EXPECT_EQ(kept->devices.inventory, "");
  EXPECT_EQ(kept->devices.testbed, "two-pi4");
}

TEST(KeptFlags, NamesOfAnyBytesAreKeptAsFarAsTheyAreText) {
  KeptFlags flags;
  flags.model.model = "mod\xe8le.pt";
  cluster::NamedPlan& named = flags.options.plans.emplace_back();
  named.name = "d\xe8s";
  named.plan.model = flags.model.model;
  named.plan.stages = {{"pi-1", 0, 10}};
  const auto kept = kept_flags(run_with(to_json(flags)));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->model.model, here("mod\xEF\xBF\xBDle.pt"));
  ASSERT_EQ(kept->options.plans.size(), 1U);
  EXPECT_EQ(kept->options.plans[0].name, "d\xEF\xBF\xBDs");
  EXPECT_EQ(kept->options.plans[0].plan.model, "mod\xEF\xBF\xBDle.pt");
}

TEST(KeptFlags, SayWhatTheConditionsWereWhateverBecameOfTheirFiles) {
  plan::Condition slow;
  slow.forward.delay = std::chrono::milliseconds(20);
  KeptFlags flags = some_flags();
  flags.options.conditions = {"none", here("no such folder/slow.yaml")};
  flags.conditions = {{"slow", slow}};
  json text = json::parse(to_json(flags));
  EXPECT_EQ(text["networks"], json::object({{"slow", to_text(slow)}}));
  const auto kept = kept_flags(run_with(text.dump()));
  ASSERT_TRUE(kept) << kept.error().message;
  ASSERT_EQ(kept->conditions.size(), 1U);
  EXPECT_EQ(kept->conditions[0].name, "slow");
  EXPECT_EQ(kept->conditions[0].condition, slow);
  text["networks"]["slow"] = "dellay: 20ms";
  const auto corrupt = kept_flags(run_with(text.dump()));
  ASSERT_FALSE(corrupt);
  EXPECT_EQ(corrupt.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(corrupt.error().message,
              AllOf(HasSubstr("run 20260131-101502-ab12: network slow"), HasSubstr("dellay")));
  // Of before they were kept.
  text.erase("networks");
  EXPECT_THAT(kept_flags(run_with(text.dump())).error().message, HasSubstr("slow.yaml"));
}

TEST(KeptFlags, OfOtherVersions) {
  json older = json::parse(to_json(some_flags()));
  older.erase("testbed");
  older.erase("testbed_content");
  const auto kept = kept_flags(run_with(older.dump()));
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->devices.testbed, "");
  EXPECT_FALSE(kept->testbed_content);
  older["model"].erase("model");
  for (const std::string& text : {std::string("{"), older.dump()}) {
    const auto corrupt = kept_flags(run_with(text));
    ASSERT_FALSE(corrupt);
    EXPECT_EQ(corrupt.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(corrupt.error().message, HasSubstr("run 20260131-101502-ab12: its flags"));
  }
}

}  // namespace
}  // namespace pareto::client
