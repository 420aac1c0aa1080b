#include "coordinator/sweep/training_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/coordinator/support/small_model.h"

namespace pareto::sweep {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

planning::TrainingStageTimes times(int forward, int backward, int optimiser) {
  return {milliseconds(forward), milliseconds(backward), milliseconds(optimiser)};
}

TEST(TrainingProfile, SumsThePiecesOfAStage) {
  const model::Model model = test::small_model();
  const auto end = static_cast<std::int64_t>(model.graph().operators.size());
  const TrainingProfile profile(model, {0, 5, 20, end},
                                {times(1, 2, 3), times(10, 20, 30), times(100, 200, 300)});
  EXPECT_EQ(profile.between(0, end), times(111, 222, 333));
  EXPECT_EQ(profile.between(5, 20), times(10, 20, 30));
  EXPECT_EQ(profile.between(5, end), times(110, 220, 330));
}

TEST(TrainingProfile, PartsAPieceByItsFlops) {
  const model::Model model = test::small_model();
  const auto& operators = model.graph().operators;
  const auto end = static_cast<std::int64_t>(operators.size());
  const TrainingProfile profile(model, {0, end}, {times(1000, 2000, 0)});
  const auto flops_of = [&](std::int64_t begin, std::int64_t until) {
    return std::accumulate(
        operators.begin() + begin, operators.begin() + until, 0.0,
        [](double sum, const model::Operator& op) { return sum + op.flops_per_sample; });
  };
  const double share = flops_of(0, 10) / flops_of(0, end);
  ASSERT_GT(share, 0);
  const planning::TrainingStageTimes first = profile.between(0, 10);
  EXPECT_NEAR(to_milliseconds(first.forward), 1000 * share, 1e-3);
  EXPECT_NEAR(to_milliseconds(first.backward), 2000 * share, 1e-3);
  EXPECT_EQ(first.forward + profile.between(10, end).forward, milliseconds(1000));
}

TEST(ProfiledPositions, AreThoseWantedInOrder) {
  const model::Model model = test::small_model();
  const auto end = static_cast<std::int64_t>(model.graph().operators.size());
  EXPECT_THAT(profiled_positions(model, {}), ElementsAre(0, end));
  EXPECT_THAT(profiled_positions(model, {0, 20, 5, 20}), ElementsAre(0, 5, 20, end));
}

TEST(ProfiledPositions, LeaveTheLastStageSomethingToTrain) {
  const model::Model model = test::small_model();
  const auto end = static_cast<std::int64_t>(model.graph().operators.size());
  // Behind the last convolution nothing has a parameter.
  EXPECT_THAT(profiled_positions(model, {5, end - 1}), ElementsAre(0, 5, end));
}

TEST(ProfiledPositions, AreNotTooMany) {
  const model::Model model = test::small_model();
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < model.graph().operators.size(); ++i) {
    all.push_back(static_cast<std::int64_t>(i));
  }
  const auto positions = profiled_positions(model, all);
  EXPECT_EQ(positions.size(), 33U);
  EXPECT_TRUE(std::ranges::is_sorted(positions));
  EXPECT_EQ(std::ranges::adjacent_find(positions), positions.end());
}

}  // namespace
}  // namespace pareto::sweep
