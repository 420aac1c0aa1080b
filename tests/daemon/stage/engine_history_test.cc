#include "daemon/stage/engine_history.h"

#include <gtest/gtest.h>

#include "tests/daemon/support/fake_runner.h"

namespace pareto::daemon {
namespace {

using std::chrono::milliseconds;

/// Returns the report of a contest in which "fast" takes a third of plain, "near" 1.05 times as
/// long, "slow" 1.15 times, and "odd" gives wrong results.
runtime::LoadReport contest(milliseconds plain = milliseconds(30)) {
  const Nanoseconds fast = plain / 3;
  runtime::LoadReport report;
  report.engine = "fast";
  report.timings = {{"plain", plain, "", 0},
                    {"near", fast * 105 / 100, "", 0},
                    {"slow", fast * 115 / 100, "", 0},
                    {"odd", Nanoseconds(0), "its results are off", 1},
                    {"fast", fast, "", 0}};
  return report;
}

class EngineHistoryTest : public testing::Test {
 protected:
  void remember(std::int64_t begin, std::int64_t end,
                const runtime::LoadReport& report = contest()) {
    history_.add(test::make_shard(begin, end), {}, report);
  }
  bool hopeless(const std::string& engine, std::int64_t begin, std::int64_t end,
                Nanoseconds plain = milliseconds(30)) const {
    return history_.is_hopeless(test::make_shard(begin, end), options_, engine,
                                runtime::Precision::kFloat32, plain);
  }

  EngineHistory history_;
  runtime::RunnerOptions options_;
};

TEST_F(EngineHistoryTest, WhatLostFourTimesIsHopeless) {
  for (const std::int64_t end : {99, 100, 101}) remember(0, end);
  EXPECT_FALSE(hopeless("slow", 0, 103)) << "three times are no habit";
  remember(0, 102);
  EXPECT_TRUE(hopeless("slow", 0, 103));
  EXPECT_TRUE(hopeless("odd", 0, 103));
  EXPECT_FALSE(hopeless("near", 0, 103)) << "it might win where less is disturbed";
  EXPECT_FALSE(hopeless("fast", 0, 103));
  EXPECT_FALSE(hopeless("new", 0, 103));
}

TEST_F(EngineHistoryTest, AnEngineInAnotherPrecisionIsAnotherOne) {
  runtime::LoadReport both = contest();
  both.timings.push_back({"slow", milliseconds(1), "", 0.01, runtime::Precision::kBFloat16});
  both.engine = "slow";
  both.precision = runtime::Precision::kBFloat16;
  for (const std::int64_t end : {99, 100, 101, 102}) remember(0, end, both);
  EXPECT_TRUE(hopeless("slow", 0, 103));
  EXPECT_TRUE(hopeless("fast", 0, 103)) << "it took three times as long as the one in bf16";
  EXPECT_FALSE(history_.is_hopeless(test::make_shard(0, 103), options_, "slow",
                                    runtime::Precision::kBFloat16, milliseconds(30)));
}

TEST_F(EngineHistoryTest, OnlyForShardsLikeThose) {
  for (const std::int64_t end : {99, 100, 101, 102}) remember(0, end);
  EXPECT_TRUE(hopeless("slow", 30, 100));
  EXPECT_FALSE(hopeless("slow", 0, 60)) << "other operators";
  EXPECT_FALSE(hopeless("slow", 102, 200));
  EXPECT_FALSE(hopeless("slow", 0, 100, milliseconds(100))) << "of larger inputs";
  EXPECT_FALSE(hopeless("slow", 0, 100, milliseconds(10)));
  options_.batch = 8;
  EXPECT_FALSE(hopeless("slow", 0, 100)) << "of another batch";
}

TEST_F(EngineHistoryTest, OneContestThatItDidNotLoseGivesItAnotherChance) {
  for (const std::int64_t end : {99, 100, 101, 102}) remember(0, end);
  runtime::LoadReport close = contest();
  close.timings[2].best = close.timings[4].best * 109 / 100;
  remember(0, 104, close);
  EXPECT_FALSE(hopeless("slow", 0, 103));
}

TEST_F(EngineHistoryTest, AnEngineAskedForByNameIsNoContest) {
  runtime::LoadReport named;
  named.engine = "slow";
  named.timings = {{"slow", milliseconds(1), "", 0}};
  for (int i = 0; i < 4; ++i) remember(0, 100, named);
  for (const std::int64_t end : {99, 100, 101, 102}) remember(0, end);
  EXPECT_TRUE(hopeless("slow", 0, 103));
}

}  // namespace
}  // namespace pareto::daemon
