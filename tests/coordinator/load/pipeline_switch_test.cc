// Streams that change their pipeline while they run, over pipelines that the test breaks.
#include "coordinator/load/pipeline_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/bounded_queue.h"
#include "tests/coordinator/load/lasting_stream_fixture.h"

namespace pareto::load {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::chrono::seconds kLong{60};

class PipelineSwitchTest : public LastingStreamTest {
 protected:
  PipelineSwitchTest() { options_.desk = &desk_; }

  /// Returns a change to pipelines of these scripts.
  SwitchRequest to(std::vector<Script> scripts, std::function<void()> on_open = {}) {
    auto opener = std::make_unique<ScriptedOpener>();
    opener->scripts = std::move(scripts);
    opener->on_open = std::move(on_open);
    return {std::move(opener), options_.stream};
  }
  /// Runs a stream that ends when `meanwhile` has returned, which asks for changes.
  Expected<> run_while(std::function<void()> meanwhile) {
    const std::jthread asking([&, meanwhile = std::move(meanwhile)] {
      ASSERT_TRUE(begun_.pop(deadline_after(kLong)));
      meanwhile();
      enough_ = true;
    });
    on_next_ = [this](std::size_t number) {
      // Not before some were answered.
      if (number == 5) static_cast<void>(begun_.push(0));
    };
    return run(~std::size_t{0});
  }

  SwitchDesk desk_;
  BoundedQueue<int> begun_{1};
};

TEST_F(PipelineSwitchTest, RequestsGoOnThroughTheNextPipeline) {
  ASSERT_TRUE(run_while([&] {
    for (int i = 0; i < 3; ++i) {
      const auto report = desk_.ask(to({}));
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->sent_again, 0U);
      EXPECT_FALSE(report->lost);
    }
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_, ElementsAre("open", "switched", "switched", "switched"));
  EXPECT_EQ(opener_.attempts, 1U);
}

TEST_F(PipelineSwitchTest, ANextPipelineThatCannotBeOpenedChangesNothing) {
  Script full;
  full.open_error = Error{ErrorCode::kExhausted, "b: no room for another 3 MiB"};
  ASSERT_TRUE(run_while([&] {
    const auto report = desk_.ask(to({full}));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::kExhausted);
    EXPECT_EQ(report.error().message, "b: no room for another 3 MiB");
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_, ElementsAre("open", "stayed: b: no room for another 3 MiB"));
}

TEST_F(PipelineSwitchTest, ANextPipelineThatBreaksBeforeItAnswersGivesItsRequestsBack) {
  ASSERT_TRUE(run_while([&] {
    const auto report = desk_.ask(to({{.dies_at = 0}}));
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, StartsWith("the next pipeline broke: stage 1 on b"));
    // The one before goes on, and may be changed.
    EXPECT_TRUE(desk_.ask(to({})));
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_,
              ElementsAre("open", StartsWith("stayed: the next pipeline broke"), "switched"));
  EXPECT_EQ(opener_.attempts, 1U);
}

TEST_F(PipelineSwitchTest, ThePipelineBeforeMayBeLostWithRequestsThatItHas) {
  // It takes some requests and answers none of them; then its device is lost.
  opener_.scripts = {{.hangs_at = 3}};
  ASSERT_TRUE(run_while([&] {
    const auto report = desk_.ask(to({{.on_first = [&] { opener_.last->die(); }}}));
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_TRUE(report->lost);
    EXPECT_THAT(report->lost->message, HasSubstr("stage 1 on b"));
    EXPECT_GT(report->sent_again, 0U);
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_, ElementsAre("open", StartsWith("switched, lost: stage 1 on b")));
}

TEST_F(PipelineSwitchTest, IfBothAreLostEveryRequestIsSentAgainOnce) {
  // Nobody asks the devices before the next pipeline breaks.
  options_.watch_every = kLong;
  opener_.scripts = {{.hangs_at = 3}};
  ASSERT_TRUE(run_while([&] {
    const auto report = desk_.ask(to({{.dies_at = 1}}, [&] { opener_.last->die_unseen(); }));
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, StartsWith("both pipelines were lost"));
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_, ElementsAre("open", StartsWith("stayed: both pipelines were lost"),
                                   StartsWith("lost: stage 1 on b"), "again"));
  EXPECT_EQ(last_again_.sent_again, 1);
  EXPECT_EQ(opener_.attempts, 2U);
}

TEST_F(PipelineSwitchTest, ALostPipelineThatHasNothingToAnswerIsLostToo) {
  options_.watch_every = kLong;
  // One request at a time: the pipeline before has answered all that it got.
  options_.stream.window = 1;
  ASSERT_TRUE(run_while([&] {
    const auto report =
        desk_.ask(to({{.dies_at = 0, .on_first = [&] { opener_.last->die_unseen(); }}}));
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, StartsWith("both pipelines were lost"));
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_, ElementsAre("open", StartsWith("stayed: both pipelines were lost"),
                                   StartsWith("lost: stage 1 on b"), "again"));
}

TEST_F(PipelineSwitchTest, ALossWhileTheNextPipelineIsOpenedIsMadeGoodByIt) {
  // The next one is open before the other is tried again.
  options_.first_pause = kLong;
  BoundedQueue<int> seen(1);
  on_lost_ = [&] { static_cast<void>(seen.push(0)); };
  ASSERT_TRUE(run_while([&] {
    const auto report = desk_.ask(to({}, [&] {
      opener_.last->die();
      EXPECT_TRUE(seen.pop(deadline_after(kLong)));
    }));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->lost);
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_EQ(opener_.attempts, 1U) << "the lost one is not waited for";
}

TEST_F(PipelineSwitchTest, ALossDoesNotWaitForANextPipelineThatIsStillOpened) {
  BoundedQueue<int> again(1);
  std::size_t opened = 0;
  on_opened_ = [&] {
    if (++opened == 2) static_cast<void>(again.push(0));
  };
  ASSERT_TRUE(run_while([&] {
    const auto report = desk_.ask(to({}, [&] {
      opener_.last->die();
      EXPECT_TRUE(again.pop(deadline_after(kLong))) << "the loss waits for this opening";
    }));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->lost) << "the change is made afterwards";
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_, ElementsAre("open", StartsWith("lost: stage 1 on b"), "again", "switched"));
  EXPECT_EQ(opener_.attempts, 2U);
}

TEST_F(PipelineSwitchTest, ANextPipelineThatCannotBeOpenedAfterALossIsRefusedThen) {
  BoundedQueue<int> again(1);
  on_opened_ = [&, opened = std::size_t{0}]() mutable {
    if (++opened == 2) static_cast<void>(again.push(0));
  };
  Script lost_too;
  lost_too.open_error = Error{ErrorCode::kUnavailable, "b: it is lost"};
  ASSERT_TRUE(run_while([&] {
    const auto report = desk_.ask(to({lost_too}, [&] {
      opener_.last->die();
      EXPECT_TRUE(again.pop(deadline_after(kLong)));
    }));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message, "b: it is lost");
  }));
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
  EXPECT_THAT(events_, ElementsAre("open", StartsWith("lost: stage 1 on b"), "again",
                                   "stayed: b: it is lost"));
}

TEST_F(PipelineSwitchTest, AStreamThatIsGivenUpHurriesTheOpeningOfTheNext) {
  options_.retry = std::chrono::milliseconds(20);
  Script absent;
  absent.open_error = Error{ErrorCode::kUnavailable, "b: nobody answers"};
  opener_.scripts = {{}};
  opener_.scripts.resize(1000, absent);
  BoundedQueue<int> hurried(1);
  EXPECT_FALSE(run_while([&] {
    SwitchRequest request = to({}, [&] {
      opener_.last->die();
      EXPECT_TRUE(hurried.pop(deadline_after(kLong)));
    });
    static_cast<ScriptedOpener&>(*request.opener).on_hurry = [&] {
      static_cast<void>(hurried.push(0));
    };
    EXPECT_FALSE(desk_.ask(std::move(request)));
  }));
}

TEST_F(PipelineSwitchTest, RequestsMayEndWhileTheNextPipelineIsOpened) {
  BoundedQueue<int> ended(1);
  std::jthread asking;
  on_next_ = [&](std::size_t number) {
    if (number != 5) return;
    asking = std::jthread([&] {
      const auto report = desk_.ask(to({}, [&] {
        enough_ = true;
        EXPECT_TRUE(ended.pop(deadline_after(kLong)));
      }));
      // The requests may end before the other has any, or after.
      if (!report) {
        EXPECT_THAT(report.error().message, HasSubstr("ended"));
      }
    });
  };
  on_exhausted_ = [&] { static_cast<void>(ended.push(0)); };
  ASSERT_TRUE(run(~std::size_t{0}));
  asking.join();
  expect_all(given_);
  EXPECT_THAT(failed_, SizeIs(0));
}

TEST_F(PipelineSwitchTest, AStreamThatHasEndedRefusesAllChanges) {
  ASSERT_TRUE(run(3));
  const auto report = desk_.ask(to({}));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kClosed);
}

TEST_F(PipelineSwitchTest, AnIdleStreamChangesAtOnce) {
  options_.idle = std::chrono::milliseconds(20);
  BoundedQueue<int> changed(1);
  const std::jthread asking([&] {
    const auto report = desk_.ask(to({}));
    EXPECT_TRUE(report);
    if (report) {
      EXPECT_FALSE(report->gap);
    }
    static_cast<void>(changed.push(0));
  });
  // No request comes until it has changed.
  on_next_ = [&](std::size_t number) {
    if (number == 0) {
      EXPECT_TRUE(changed.pop(deadline_after(kLong)));
    }
  };
  ASSERT_TRUE(run(3));
  expect_all(3);
}

TEST_F(PipelineSwitchTest, AThousandChangesLoseNothing) {
  constexpr int kChanges = 1000;
  options_.stream.window = 5;
  std::mt19937 random(7);
  const auto chance = [&](int of) { return static_cast<int>(random() % of) == 0; };
  int made = 0;
  ASSERT_TRUE(run_while([&] {
    for (int i = 0; i < kChanges; ++i) {
      Script next{};
      if (chance(8)) next.open_error = Error{ErrorCode::kExhausted, "b: no room"};
      if (chance(6)) next.dies_at = random() % 4;
      const auto report = desk_.ask(to({next}));
      made += report ? 1 : 0;
    }
  }));
  EXPECT_GT(made, kChanges / 2);
  expect_all(given_);
  // A request that was with three pipelines that were lost counts as the cause.
  EXPECT_THAT(failed_, Each(HasSubstr("stage 1 on b: no daemon answers")));
  EXPECT_THAT(failed_, SizeIs(testing::Le(std::size_t{5})));
}

}  // namespace
}  // namespace pareto::load
