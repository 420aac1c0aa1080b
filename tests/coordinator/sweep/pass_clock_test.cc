#include "coordinator/sweep/pass_clock.h"

#include <gtest/gtest.h>

namespace pareto::sweep {
namespace {

class HandClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }
  void pass(Nanoseconds time) { now_ += time; }

 private:
  TimePoint now_{};
};

class PassClockTest : public testing::Test {
 protected:
  HandClock hand_;
  std::vector<results::PassRecord> passes_;
};

TEST_F(PassClockTest, CountsThePassInHandAndThoseOfAnEarlierPart) {
  passes_.emplace_back().seconds = 40;
  PassClock clock(hand_, passes_, 60);
  EXPECT_FALSE(clock.budget_is_spent());
  hand_.pass(std::chrono::seconds(100));
  passes_.emplace_back();
  clock.begin_pass();
  hand_.pass(std::chrono::seconds(15));
  clock.count_pass();
  EXPECT_DOUBLE_EQ(passes_.back().seconds, 15);
  EXPECT_DOUBLE_EQ(clock.seconds_spent(), 55) << "what lies between passes is free";
  EXPECT_FALSE(clock.budget_is_spent());
  hand_.pass(std::chrono::seconds(5));
  clock.count_pass();
  EXPECT_DOUBLE_EQ(passes_.back().seconds, 20);
  EXPECT_TRUE(clock.budget_is_spent());
}

TEST_F(PassClockTest, WithoutABudgetNothingIsSpent) {
  passes_.emplace_back().seconds = 1e9;
  EXPECT_FALSE(PassClock(hand_, passes_, std::nullopt).budget_is_spent());
}

TEST_F(PassClockTest, TellsWhatTheTimeWentInto) {
  PassClock clock(hand_, passes_, std::nullopt);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(clock.timed(&results::TimeSpent::network_s,
                          [&] {
                            hand_.pass(std::chrono::seconds(3));
                            return 7;
                          }),
              7);
  }
  hand_.pass(std::chrono::seconds(1));
  clock.spent().requests += 5;
  const results::TimeSpent first = clock.take_spent();
  EXPECT_DOUBLE_EQ(first.network_s, 6);
  EXPECT_DOUBLE_EQ(first.total_s, 7);
  EXPECT_EQ(first.requests, 5);
  hand_.pass(std::chrono::seconds(2));
  const results::TimeSpent next = clock.take_spent();
  EXPECT_DOUBLE_EQ(next.network_s, 0);
  EXPECT_DOUBLE_EQ(next.total_s, 2);
  EXPECT_EQ(next.requests, 0);
}

}  // namespace
}  // namespace pareto::sweep
