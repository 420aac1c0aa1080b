// Trials, devices and disks that fail during a sweep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/sweep/sweep_runner.h"
#include "tests/coordinator/sweep/sweep_runner_fixture.h"

namespace pareto::sweep {
namespace {

using testing::HasSubstr;

TEST_F(SweepRunnerTest, AFailedTrialIsRecordedAndTheSweepGoesOn) {
  daemons_[1]->set_memory_limit(6 * test::kFakeWeightBytes);
  ASSERT_TRUE(sweep());
  EXPECT_EQ(store_.trials.size(), 5U);
  EXPECT_EQ(trial("cut5").status, results::TrialStatus::kOk);
  EXPECT_EQ(trial("all-on:a").status, results::TrialStatus::kOk);
  EXPECT_EQ(trial("all-on:b").status, results::TrialStatus::kFailed);
  EXPECT_THAT(trial("all-on:b").failure, HasSubstr("memory limit"));
  EXPECT_FALSE(trial("all-on:b").on_front);
  EXPECT_FALSE(run_.finished.empty());
}

TEST_F(SweepRunnerTest, ARequestThatFailsFailsItsTrial) {
  daemons_[0]->fail_request(17);
  ASSERT_TRUE(sweep());
  EXPECT_EQ(trial("all-on:b").status, results::TrialStatus::kOk);
  for (const char* id : {"cut2", "cut5", "cut8", "all-on:a"}) {
    EXPECT_EQ(trial(id).status, results::TrialStatus::kFailed);
    EXPECT_THAT(trial(id).failure, HasSubstr("on a: no memory"));
    EXPECT_EQ(store_.trials.at(id).status, results::TrialStatus::kFailed);
  }
}

TEST_F(SweepRunnerTest, AKilledDaemonFailsItsTrialsAndTheRunCanBeResumed) {
  daemons_[1]->die_at_request(20);
  ASSERT_TRUE(sweep());
  EXPECT_EQ(trial("all-on:a").status, results::TrialStatus::kOk);
  for (const char* id : {"cut2", "cut5", "cut8", "all-on:b"}) {
    EXPECT_EQ(trial(id).status, results::TrialStatus::kFailed) << id;
    EXPECT_THAT(trial(id).failure, testing::StartsWith("a device was lost: "));
  }
  EXPECT_TRUE(run_.finished.empty());
  EXPECT_TRUE(store_.updated.has_value());
}

TEST_F(SweepRunnerTest, ADeviceThatHangsIsWaitedForOnce) {
  options_.timeout_ms = 200;
  bool stopped = false;
  on_progress_ = [&](const SweepProgress& now) {
    if (now.done != 7 || stopped) return;
    stopped = true;
    daemons_[1]->stop();
  };
  ASSERT_TRUE(sweep());
  ASSERT_TRUE(stopped);
  EXPECT_LE(daemons_[1]->requests_swallowed(), 1U) << "one request ran out of its time";
  EXPECT_EQ(daemons_[1]->calls_waited(), 1) << "and the device was asked whether it is there";
  for (const char* id : {"cut2", "cut5", "cut8", "all-on:b"}) {
    EXPECT_EQ(trial(id).status, results::TrialStatus::kFailed) << id;
    EXPECT_THAT(trial(id).failure, testing::StartsWith("a device was lost: b: no answer"));
  }
  EXPECT_EQ(trial("all-on:a").rounds.size(), 3U) << "the others go on";
  EXPECT_TRUE(run_.finished.empty());
}

TEST_F(SweepRunnerTest, ADeviceThatHangsBeforeAnythingIsLoadedIsWaitedForOnce) {
  daemons_[1]->stop();
  ASSERT_TRUE(sweep());
  EXPECT_EQ(daemons_[1]->calls_waited(), 2) << "asked for its tensors, and whether it is there";
  EXPECT_EQ(trial("cut5").status, results::TrialStatus::kFailed);
  EXPECT_EQ(trial("all-on:a").status, results::TrialStatus::kOk);
}

TEST_F(SweepRunnerTest, EndsEarlyWhereNoDeviceIsLeft) {
  daemons_[0]->die_at_request(20);
  daemons_[1]->die_at_request(20);
  ASSERT_TRUE(sweep());
  EXPECT_TRUE(run_.finished.empty());
  EXPECT_EQ(store_.trials.size(), progress_.back().failed_trials);
}

TEST_F(SweepRunnerTest, AFailedTrialKeepsItsRoundsAndLacksTheOthers) {
  on_progress_ = [this](const SweepProgress& now) {
    if (now.done == 7) daemons_[1]->die();
  };
  ASSERT_TRUE(sweep());
  EXPECT_TRUE(run_.finished.empty());
  for (const char* id : {"cut2", "cut5", "cut8", "all-on:b"}) {
    EXPECT_EQ(trial(id).status, results::TrialStatus::kFailed);
    EXPECT_GE(trial(id).rounds.size(), 1U);
    EXPECT_LT(trial(id).rounds.size(), 3U);
    EXPECT_FALSE(trial(id).on_front);
  }
  EXPECT_EQ(trial("all-on:a").rounds.size(), 3U);
}

TEST_F(SweepRunnerTest, AFullDiskEndsTheSweep) {
  store_.room = 2;
  const auto done = sweep();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kExhausted);
}

/// Says that the whole model returns doubles.
class DoublesExpected final : public test::FakeWorkload {
 public:
  Expected<std::optional<std::vector<Value>>> expected(std::int64_t batch,
                                                       std::uint64_t /*seed*/) override {
    PARETO_ASSIGN(Tensor tensor, Tensor::allocate(DType::kFloat64, {batch, 4}));
    return std::optional(std::vector<Value>{Value(std::move(tensor))});
  }
};

TEST_F(SweepRunnerTest, AnOutputOfAnotherTypeThanTheWholeModelsFailsItsTrial) {
  DoublesExpected workload;
  options_.rounds = 1;
  SweepRunner runner({workload,
                      *cluster_,
                      store_,
                      stop_,
                      [](const SweepProgress&) {},
                      test::sharing(transport_),
                      {},
                      kNoTime,
                      clock_},
                     options_, run_);
  ASSERT_TRUE(runner.run());
  for (const results::TrialRecord& measured : run_.trials) {
    EXPECT_EQ(measured.status, results::TrialStatus::kFailed) << measured.id;
    EXPECT_THAT(measured.failure,
                HasSubstr("output 0 is float32[1x4], the whole model's is float64[1x4]"));
    EXPECT_TRUE(measured.rounds.empty()) << "figures of wrong results are none";
    EXPECT_FALSE(measured.on_front);
  }
}

}  // namespace
}  // namespace pareto::sweep
