#include "core/plan/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/plan/training_order.h"

namespace pareto::plan {
namespace {

using testing::HasSubstr;

TrainingSettings full_settings() {
  TrainingSettings settings;
  settings.id = "4f/1";
  settings.stage = 1;
  settings.stages = 3;
  settings.order = kFillDrain;
  settings.optimiser = {.name = "adamw", .weight_decay = 0.01, .beta1 = 0.8, .epsilon = 1e-6};
  settings.frozen = {"features.0", "classifier"};
  settings.bf16 = true;
  settings.gradient_codec = "fp16";
  settings.tied = {{"embedding.weight", true, false}};
  settings.state = {{.name = "optimiser/w/step",
                     .digest = sha256("x"),
                     .dtype = DType::kInt64,
                     .shape = {},
                     .is_parameter = false}};
  return settings;
}

TEST(Training, SettingsSurviveTheirText) {
  const std::string text = training_json(full_settings());
  const auto read = training_from_json(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(training_json(*read), text);
  EXPECT_EQ(read->optimiser, full_settings().optimiser);
  EXPECT_EQ(read->tied, full_settings().tied);
  EXPECT_EQ(read->state.at(0).dtype, DType::kInt64);
}

/// Returns the error of settings in which the value at `path` is another one.
std::string error_with(const std::string& path, const nlohmann::json& value) {
  auto json = nlohmann::json::parse(training_json(full_settings()));
  json[nlohmann::json::json_pointer(path)] = value;
  const auto read = training_from_json(json.dump());
  return read ? "none" : read.error().message;
}

TEST(Training, ForeignSettingsAreChecked) {
  EXPECT_THAT(error_with("/stage", 3), HasSubstr("stage 3 of 3"));
  EXPECT_THAT(error_with("/stages", 1 << 20), HasSubstr("at most 1024"));
  EXPECT_THAT(error_with("/stage", -1), HasSubstr("whole number"));
  EXPECT_THAT(error_with("/order", "zigzag"), HasSubstr("no order of passes \"zigzag\""));
  EXPECT_THAT(error_with("/optimiser/name", "lbfgs"), HasSubstr("no optimiser \"lbfgs\""));
  EXPECT_THAT(error_with("/optimiser/beta1", 1), HasSubstr("betas 1"));
  EXPECT_THAT(error_with("/optimiser/weight_decay", -0.1), HasSubstr("weight decay"));
  EXPECT_THAT(error_with("/frozen", "features"), HasSubstr("\"frozen\" is no list"));
  EXPECT_THAT(error_with("/state/0/shape", {1, -2}), HasSubstr("impossible shape"));
  EXPECT_THAT(error_with("/state/0/digest", "12"), HasSubstr("optimiser/w/step"));
  EXPECT_THAT(error_with("/tied/0/later", 1), HasSubstr("boolean"));
  for (const char* text : {"", "[]", "{}", "{\"id\":"}) {
    EXPECT_FALSE(training_from_json(text)) << text;
  }
}

TEST(Training, NesterovNeedsMomentum) {
  const auto checked = check(Optimiser{.nesterov = true});
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("needs a momentum"));
}

TEST(Training, AFrozenPathHoldsWhatIsUnderIt) {
  TrainingSettings settings;
  settings.frozen = {"features.1"};
  EXPECT_TRUE(is_frozen(settings.frozen, "features.1"));
  EXPECT_TRUE(is_frozen(settings.frozen, "features.1.weight"));
  EXPECT_FALSE(is_frozen(settings.frozen, "features.10.weight"));
  EXPECT_FALSE(is_frozen(settings.frozen, "features"));
}

TEST(TrainingOrder, EachMicroBatchGoesOnceEachWayInOrder) {
  for (const std::string& order : training_orders()) {
    for (std::uint32_t stages = 1; stages <= 5; ++stages) {
      for (std::uint32_t parts = 1; parts <= 6; ++parts) {
        for (std::uint32_t stage = 0; stage < stages; ++stage) {
          std::uint32_t next[2]{0, 0};
          std::uint32_t most_kept = 0;
          for (const TrainingPass& pass : training_passes(order, stage, stages, parts)) {
            EXPECT_EQ(pass.micro_batch, next[pass.backward ? 1 : 0]++);
            ASSERT_LE(next[1], next[0]) << "it goes back before it went forward";
            most_kept = std::max(most_kept, next[0] - next[1]);
          }
          EXPECT_EQ(next[0], parts);
          EXPECT_EQ(next[1], parts);
          EXPECT_EQ(most_kept, order == kFillDrain ? parts : std::min(parts, stages - stage));
        }
      }
    }
  }
}

/// Lets stages pass messages to each other without time, in any order that is possible. Returns
/// whether all of them come to the end.
bool ends(const std::string& order, std::uint32_t stages, std::uint32_t parts) {
  std::vector<std::vector<TrainingPass>> left;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    left.push_back(training_passes(order, stage, stages, parts));
    std::ranges::reverse(left.back());
  }
  std::vector<std::uint32_t> forwards(stages + 1), backwards(stages + 1);
  forwards[0] = parts;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      if (left[stage].empty()) continue;
      const bool backward = left[stage].back().backward;
      const bool last = stage + 1 == stages;
      std::uint32_t none = 1;
      std::uint32_t& from = backward ? (last ? none : backwards[stage + 1]) : forwards[stage];
      if (from == 0) continue;
      --from;
      ++(backward ? backwards[stage] : forwards[stage + 1]);
      left[stage].pop_back();
      moved = true;
    }
  }
  return std::ranges::all_of(left, [](const auto& passes) { return passes.empty(); });
}

TEST(TrainingOrder, NoStageWaitsForEver) {
  for (const std::string& order : training_orders()) {
    for (std::uint32_t stages = 1; stages <= 6; ++stages) {
      for (std::uint32_t parts = 1; parts <= 9; ++parts) {
        EXPECT_TRUE(ends(order, stages, parts)) << order << " " << stages << " " << parts;
      }
    }
  }
}

TEST(TrainingOrder, UnknownNamesAreRefused) {
  const auto checked = check_training_order("gpipe");
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("only 1f1b, fill-drain"));
}

}  // namespace
}  // namespace pareto::plan
