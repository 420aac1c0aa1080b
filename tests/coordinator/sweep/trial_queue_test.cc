#include "coordinator/sweep/trial_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::sweep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Error kGone{ErrorCode::kUnavailable, "gone"};

class TrialQueueTest : public testing::Test {
 protected:
  TrialQueueTest() : trials_(4) {
    trials_[1].status = results::TrialStatus::kFailed;
    trials_[1].failure = "of yesterday";
  }

  std::vector<results::TrialRecord> trials_;
  const std::vector<bool> all_ = std::vector<bool>(4, true);
};

TEST_F(TrialQueueTest, TakesYesterdaysFailureOffWhatIsWanted) {
  trials_[2] = trials_[1];
  const TrialQueue queue(trials_, {true, true, false, true});
  EXPECT_THAT(queue.waiting(), ElementsAre(0, 1, 3));
  EXPECT_EQ(trials_[1].status, results::TrialStatus::kOk);
  EXPECT_EQ(trials_[1].failure, "");
  EXPECT_EQ(trials_[2].status, results::TrialStatus::kFailed);
  EXPECT_EQ(trials_[2].failure, "of yesterday");
}

TEST_F(TrialQueueTest, WhatADeviceHasNoRoomForIsOut) {
  trials_[1].no_room = true;
  const TrialQueue queue(trials_, all_);
  EXPECT_TRUE(queue.is_out(1));
  EXPECT_THAT(queue.waiting(), ElementsAre(0, 2, 3));
  EXPECT_EQ(queue.failed(), 1U);
  EXPECT_EQ(trials_[1].status, results::TrialStatus::kFailed) << "it keeps its failure";
}

TEST_F(TrialQueueTest, WhatWasRefusedStaysOut) {
  trials_[2].status = results::TrialStatus::kRefused;
  trials_[2].failure = "too inaccurate";
  TrialQueue queue(trials_, all_);
  EXPECT_TRUE(queue.is_out(2));
  EXPECT_EQ(trials_[2].failure, "too inaccurate");
  queue.begin(3);
  queue.refuse(3);
  EXPECT_TRUE(queue.is_out(3));
  EXPECT_THAT(queue.waiting(), ElementsAre(0, 1));
  EXPECT_EQ(queue.failed(), 0U);
}

TEST_F(TrialQueueTest, ATriedTrialIsLeftUntilItFails) {
  TrialQueue queue(trials_, {true, false, false, false});
  queue.begin(0);
  EXPECT_THAT(queue.waiting(), IsEmpty());
  EXPECT_FALSE(queue.is_exhausted()) << "it has rounds to come";
  queue.fail(0, kGone);
  EXPECT_TRUE(queue.is_out(0));
  EXPECT_TRUE(queue.is_exhausted());
  EXPECT_EQ(trials_[0].status, results::TrialStatus::kFailed);
  EXPECT_EQ(trials_[0].failure, "gone");
  EXPECT_EQ(queue.failed(), 1U);
}

TEST_F(TrialQueueTest, SkipsAConditionButNotWhatWasMeasuredOfIt) {
  for (const std::size_t place : {0, 1, 3}) trials_[place].condition = "lte";
  trials_[3].rounds.emplace_back();
  TrialQueue queue(trials_, all_);
  queue.fail(1, kGone);
  const TrialQueue::Skipped skipped = queue.skip("lte", kGone);
  EXPECT_EQ(skipped.plans, 2U) << "one had failed";
  ASSERT_EQ(skipped.records.size(), 1U);
  EXPECT_EQ(skipped.records[0].status, results::TrialStatus::kSkipped);
  EXPECT_EQ(skipped.records[0].failure, "gone");
  EXPECT_EQ(queue.skipped(), 1U);
  EXPECT_EQ(trials_[0].status, results::TrialStatus::kSkipped);
  EXPECT_EQ(trials_[1].status, results::TrialStatus::kFailed);
  EXPECT_EQ(trials_[3].status, results::TrialStatus::kOk);
  EXPECT_EQ(queue.measured(), 1U);
  EXPECT_FALSE(queue.is_exhausted());
  EXPECT_EQ(queue.skip("lte", kGone).plans, 0U) << "once";
  EXPECT_EQ(queue.skip("none", kGone).plans, 1U);
  EXPECT_TRUE(queue.is_exhausted());
}

TEST_F(TrialQueueTest, GivesBackTheFailureOfWhatWasNotTried) {
  TrialQueue queue(trials_, all_);
  EXPECT_TRUE(queue.restore_failures());
  EXPECT_EQ(trials_[1].status, results::TrialStatus::kFailed);
  EXPECT_EQ(trials_[1].failure, "of yesterday");
  EXPECT_EQ(trials_[0].status, results::TrialStatus::kOk);
}

TEST_F(TrialQueueTest, WhatWasTriedHasTodaysStatus) {
  TrialQueue queue(trials_, all_);
  queue.begin(1);
  EXPECT_FALSE(queue.restore_failures());
  EXPECT_EQ(trials_[1].status, results::TrialStatus::kOk);
}

}  // namespace
}  // namespace pareto::sweep
