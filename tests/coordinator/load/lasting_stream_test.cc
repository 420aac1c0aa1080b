// Streams over pipelines that the test loses and gives back.
#include "coordinator/load/lasting_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/base/bounded_queue.h"
#include "tests/coordinator/load/lasting_stream_fixture.h"

namespace pareto::load {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

TEST_F(LastingStreamTest, EveryRequestIsAnsweredOnceAcrossLostPipelines) {
  Script unreachable;
  unreachable.open_error = lost_device();
  opener_.scripts = {{.dies_at = 7}, unreachable, unreachable, {.dies_at = 5}};
  const auto done = run(40);
  ASSERT_TRUE(done) << done.error().message;
  expect_all(40);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_, ElementsAre("open", "lost: stage 1 on b: no daemon answers", "again",
                                   "lost: stage 1 on b: no daemon answers", "again"));
  EXPECT_GE(sent_again_, 2U);
  EXPECT_EQ(opener_.attempts, 5U);
}

TEST_F(LastingStreamTest, TheLatencyOfARequestThatIsSentAgainHoldsTheOutage) {
  options_.stream.window = 1;
  opener_.scripts = {{.dies_at = 1}, {.dies_at = 0}};
  // Each pipeline is opened later than any latency without it.
  std::vector<TimePoint> lost;
  std::vector<TimePoint> opened;
  on_lost_ = [&] { lost.push_back(std::chrono::steady_clock::now()); };
  on_opened_ = [&] { opened.push_back(std::chrono::steady_clock::now()); };
  ASSERT_TRUE(run(3));
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_EQ(last_again_.sent_again, 2);
  ASSERT_THAT(lost, SizeIs(2));
  ASSERT_THAT(opened, SizeIs(3));
  EXPECT_GE(last_again_.latency, opened.back() - lost.front());
}

TEST_F(LastingStreamTest, ALossIsFoundWhileNothingIsSent) {
  // One by one: the first is answered before the second is asked for, which is given only when the
  // loss was noticed.
  options_.stream.window = 1;
  BoundedQueue<int> again(1);
  on_next_ = [&](std::size_t number) {
    if (number != 1) return;
    opener_.last->die();
    EXPECT_TRUE(again.pop(deadline_after(std::chrono::seconds(60))));
  };
  on_opened_ = [&] {
    if (opener_.attempts == 2) static_cast<void>(again.push(0));
  };
  ASSERT_TRUE(run(2));
  expect_all(2);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_EQ(sent_again_, 0U);
}

TEST_F(LastingStreamTest, WithoutRetryEveryAcceptedRequestIsAccountedFor) {
  options_.retry = Nanoseconds(0);
  options_.stream.window = 2;
  opener_.scripts = {{.dies_at = 3}};
  const auto done = run(100);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, StartsWith("stage 1 on b: no daemon answers"));
  EXPECT_EQ(waited_, Nanoseconds(0));
  expect_all(given_);
  EXPECT_GE(failed_.size(), 1U);
  EXPECT_LE(failed_.size(), 2U) << "those in flight";
  EXPECT_THAT(failed_.front(), HasSubstr("r3: stage 1 on b"));
  EXPECT_EQ(names_.size(), 3 + failed_.size() + not_sent_.size());
}

TEST_F(LastingStreamTest, ADeviceThatDoesNotComeBackIsNamedWithWhatWasTried) {
  Script unreachable;
  unreachable.open_error = Error{ErrorCode::kTimeout, "b: no answer"};
  opener_.scripts.assign(100'000, unreachable);
  opener_.scripts.front() = {.dies_at = 0};
  options_.retry = std::chrono::milliseconds(30);
  const auto done = run(3);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "stage 1 on b: no daemon answers; not back within 0.03 s: no answer");
  expect_all(given_);
  EXPECT_EQ(failed_.size() + not_sent_.size(), given_);
}

TEST_F(LastingStreamTest, ARequestThatBreaksEveryPipelineFailsAlone) {
  options_.stream.window = 1;
  opener_.scripts = {{.dies_at = 1}, {.dies_at = 0}, {.dies_at = 0}};
  ASSERT_TRUE(run(5));
  expect_all(5);
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("r1: stage 1 on b")));
}

TEST_F(LastingStreamTest, ARequestWhoseOwnTimeRunsOutFailsAlone) {
  options_.stream.request_timeout = std::chrono::milliseconds(100);
  options_.stream.window = 2;
  opener_.scripts = {{.hangs_at = 2}};
  ASSERT_TRUE(run(6));
  expect_all(6);
  EXPECT_THAT(failed_, ElementsAre(HasSubstr("request r2: no result in 0.")));
  // What devices say once the links are closed is a consequence.
  EXPECT_THAT(events_, ElementsAre("open", HasSubstr("request r2: no result in 0."), "again"));
}

TEST_F(LastingStreamTest, RequestsBehindOnesWhoseTimeRanOutAreNotBlamedForThem) {
  options_.stream.request_timeout = std::chrono::milliseconds(50);
  options_.stream.window = 4;
  // Each pipeline answers none, so that the first of those in flight fails.
  opener_.scripts = {{.hangs_at = 0}, {.hangs_at = 0}, {.hangs_at = 0}};
  ASSERT_TRUE(run(4));
  expect_all(4);
  EXPECT_THAT(failed_, ElementsAre(StartsWith("r0: "), StartsWith("r1: "), StartsWith("r2: ")));
}

TEST_F(LastingStreamTest, ARequestThatBreaksEveryPipelineTakesNoOtherWithIt) {
  options_.stream.window = 4;
  opener_.scripts.assign(10, {.poison = 2});
  ASSERT_TRUE(run(12));
  expect_all(12);
  EXPECT_THAT(failed_, ElementsAre(StartsWith("r2: stage 1 on b")));
  EXPECT_EQ(opener_.attempts, 4U);
}

TEST_F(LastingStreamTest, ADeviceThatHangsIsLostBeforeItsRequestsTimeOut) {
  opener_.scripts = {
      {.hangs_at = 1, .find = Error{ErrorCode::kTimeout, "stage 0 on a: no answer within 3 s"}}};
  std::atomic<bool> abandoned{false};
  opener_.on_abandon = [&] { abandoned = true; };
  opener_.on_end = [&] { events_.push_back(abandoned ? "taken down, abandoned" : "taken down"); };
  ASSERT_TRUE(run(4));
  expect_all(4);
  EXPECT_THAT(failed_, SizeIs(0));
  // Named before its pipeline is taken down, which may take long.
  EXPECT_THAT(events_, ElementsAre("open", HasSubstr("stage 0 on a: no answer"),
                                   "taken down, abandoned", "again", testing::_));
}

TEST_F(LastingStreamTest, WhoeverWantsToStopWaitsForNoLostDevice) {
  Script unreachable;
  unreachable.open_error = lost_device();
  opener_.scripts.assign(100'000, unreachable);
  opener_.scripts.front() = {.dies_at = 2};
  on_lost_ = [&] { stop(); };
  const auto done = run(10);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "stage 1 on b: no daemon answers; stopped while it was waited for");
  expect_all(given_);
  EXPECT_GE(failed_.size(), 1U);
}

TEST_F(LastingStreamTest, WhoeverWantsToStopHurriesTheEndOfALostPipeline) {
  opener_.scripts = {{.dies_at = 2}};
  BoundedQueue<int> hurried(1);
  opener_.on_hurry = [&] { static_cast<void>(hurried.push(0)); };
  // Its devices take long, and the request to stop comes meanwhile.
  opener_.on_end = [&] {
    stop();
    EXPECT_TRUE(hurried.pop(deadline_after(std::chrono::seconds(60)))) << "it is waited for";
  };
  EXPECT_FALSE(run(10));
  expect_all(given_);
}

TEST_F(LastingStreamTest, WhoeverWantsToStopHurriesThePipelineThatIsOpened) {
  Script unreachable;
  unreachable.open_error = Error{ErrorCode::kClosed, "b: hurried"};
  opener_.scripts = {{.dies_at = 2}, unreachable};
  BoundedQueue<int> hurried(1);
  opener_.on_hurry = [&] { static_cast<void>(hurried.push(0)); };
  // A device takes long to answer, and the request to stop comes meanwhile.
  opener_.on_open = [&] {
    if (opener_.attempts != 2) return;
    stop();
    EXPECT_TRUE(hurried.pop(deadline_after(std::chrono::seconds(60)))) << "it is waited for";
  };
  const auto done = run(10);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, Not(HasSubstr("hurried")));
  EXPECT_EQ(opener_.attempts, 2U);
  expect_all(given_);
}

TEST_F(LastingStreamTest, APipelineThatCannotBeOpenedAtFirstIsAnErrorAtOnce) {
  Script unreachable;
  unreachable.open_error = lost_device();
  opener_.scripts = {unreachable};
  const auto done = run(3);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(opener_.attempts, 1U);
  EXPECT_EQ(given_, 0U);
}

}  // namespace
}  // namespace pareto::load
