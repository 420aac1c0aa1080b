#include "coordinator/sweep/reference_reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<results::PassRecord> passes_of(const std::vector<double>& plan_ms) {
  std::vector<results::PassRecord> passes;
  for (const double ms : plan_ms) {
    passes.push_back({static_cast<int>(passes.size()), ms, 1.0, false});
  }
  return passes;
}

TEST(ReferenceReading, APassIsTheMedianOfBothReadings) {
  const results::PassRecord pass = make_pass(2, true, {{4, 5, 60}, {1}}, {{6, 7}, {3}});
  EXPECT_EQ(pass.round, 2);
  EXPECT_TRUE(pass.repeat);
  EXPECT_EQ(pass.plan_ms, 6);
  EXPECT_EQ(pass.loop_ms, 2);
  EXPECT_EQ(make_pass(0, false, {{}, {1}}, {{}, {1}}).plan_ms, 0) << "the plan could not be run";
}

TEST(ReferenceReading, LevelPassesAreNotRepeated) {
  EXPECT_THAT(disturbed_rounds(passes_of({10, 10.9, 9.1})), IsEmpty());
  EXPECT_THAT(disturbed_rounds({}), IsEmpty());
}

TEST(ReferenceReading, OfTwoPassesNobodyKnowsWhichIsTheOddOne) {
  EXPECT_THAT(disturbed_rounds(passes_of({10, 20})), IsEmpty());
}

TEST(ReferenceReading, TheMostDisturbedRoundsAreRepeatedFirst) {
  EXPECT_THAT(disturbed_rounds(passes_of({10, 10.5, 13})), ElementsAre(2));
  EXPECT_THAT(disturbed_rounds(passes_of({10, 10, 14, 10, 12, 10})), ElementsAre(2, 4));
  EXPECT_THAT(disturbed_rounds(passes_of({10, 10, 14, 10, 12, 13})), ElementsAre(2, 5))
      << "a third of the rounds";
}

TEST(ReferenceReading, TheLoopAloneCanTell) {
  auto passes = passes_of({0, 0, 0, 0});
  passes[1].loop_ms = 1.3;
  EXPECT_THAT(disturbed_rounds(passes), ElementsAre(1));
}

TEST(ReferenceReading, ARoundIsRepeatedOnce) {
  auto passes = passes_of({10, 14, 10});
  passes.push_back({1, 14, 1.0, true});
  EXPECT_THAT(disturbed_rounds(passes), IsEmpty());
  EXPECT_THAT(describe_repeats(passes), HasSubstr("Measured again: 2."));
  EXPECT_THAT(describe_repeats({}), HasSubstr("Measured again: none."));
  EXPECT_THAT(describe_reference("all-on:a"), HasSubstr("A reference plan, all-on:a, and"));
}

TEST(ReferenceReading, TheLoopTakesTime) {
  for (const double ms : time_reference_loop()) EXPECT_GT(ms, 0);
}

}  // namespace
}  // namespace pareto::sweep
