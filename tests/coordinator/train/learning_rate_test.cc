#include "coordinator/train/learning_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pareto::train {
namespace {

using testing::HasSubstr;

LearningRate rate_of(const std::string& text) {
  LearningRate rate{.base = 0.1};
  EXPECT_TRUE(read_schedule(text, rate)) << text;
  return rate;
}

double at(const LearningRate& rate, std::int64_t step, std::int64_t steps_per_epoch,
          std::int64_t steps) {
  return rate_at(rate, {.step = step, .steps_per_epoch = steps_per_epoch, .steps = steps});
}

TEST(LearningRate, ConstantStaysAsItIs) {
  EXPECT_EQ(at(rate_of("constant"), 0, 5, 50), 0.1);
  EXPECT_EQ(at(rate_of("constant"), 49, 5, 50), 0.1);
}

// StepLR(step_size=3, gamma=0.5), an epoch of 4 steps.
TEST(LearningRate, StepChangesAfterWholeEpochs) {
  const LearningRate rate = rate_of("step:3:0.5");
  EXPECT_DOUBLE_EQ(at(rate, 0, 4, 40), 0.1);
  EXPECT_DOUBLE_EQ(at(rate, 11, 4, 40), 0.1);
  EXPECT_DOUBLE_EQ(at(rate, 12, 4, 40), 0.05);
  EXPECT_DOUBLE_EQ(at(rate, 23, 4, 40), 0.05);
  EXPECT_DOUBLE_EQ(at(rate, 24, 4, 40), 0.025);
  EXPECT_DOUBLE_EQ(at(rate_of("step:3"), 12, 4, 40), 0.01);
}

// CosineAnnealingLR(T_max=10, eta_min=0.001): its closed form at 0, 5, 7 and 10.
TEST(LearningRate, CosineFallsToItsLeast) {
  const LearningRate rate = rate_of("cosine:0.001");
  EXPECT_DOUBLE_EQ(at(rate, 0, 5, 10), 0.1);
  EXPECT_NEAR(at(rate, 5, 5, 10), 0.0505, 1e-15);
  EXPECT_NEAR(at(rate, 7, 5, 10), 0.021404630011522587, 1e-15);
  EXPECT_NEAR(at(rate, 10, 5, 10), 0.001, 1e-15);
  EXPECT_NEAR(at(rate, 12, 5, 10), 0.001, 1e-15);
}

TEST(LearningRate, WarmUpGrowsToTheBase) {
  LearningRate rate = rate_of("cosine");
  rate.warm_up = 4;
  EXPECT_DOUBLE_EQ(at(rate, 0, 7, 14), 0.025);
  EXPECT_DOUBLE_EQ(at(rate, 3, 7, 14), 0.1);
  EXPECT_DOUBLE_EQ(at(rate, 4, 7, 14), 0.1);
  // Half of the ten steps behind it.
  EXPECT_NEAR(at(rate, 9, 7, 14), 0.05, 1e-15);
}

TEST(LearningRate, SchedulesAreReadAsTheyAreWritten) {
  for (const char* text : {"constant", "step:3:0.5", "cosine", "cosine:0.001"}) {
    EXPECT_EQ(schedule_text(rate_of(text)), text);
  }
  for (const char* wrong :
       {"", "linear", "step", "step:x", "step:3:y", "step:3:1:1", "constant:1", "cosine:1:2"}) {
    LearningRate rate;
    const auto read = read_schedule(wrong, rate);
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("step:EPOCHS[:FACTOR]"));
    EXPECT_EQ(rate, LearningRate{});
  }
}

TEST(LearningRate, NumbersOutOfRangeAreRefused) {
  EXPECT_TRUE(check_rate({}));
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(check_rate({.base = 0}));
  EXPECT_FALSE(check_rate({.base = kNaN}));
  EXPECT_FALSE(check_rate({.schedule = "linear"}));
  EXPECT_FALSE(check_rate({.schedule = kStepRate, .epochs = 0}));
  EXPECT_FALSE(check_rate({.schedule = kStepRate, .factor = 1.5}));
  EXPECT_FALSE(check_rate({.schedule = kCosineRate, .least = 1}));
  EXPECT_FALSE(check_rate({.schedule = kCosineRate, .least = kNaN}));
  EXPECT_FALSE(check_rate({.warm_up = -1}));
}

}  // namespace
}  // namespace pareto::train
