#include "daemon/stage/work_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace pareto::daemon {
namespace {

using testing::HasSubstr;

TEST(WorkWatch, TellsOnceOfWorkThatDoesNotStop) {
  WorkLimits limits;
  limits.grace = std::chrono::milliseconds(5);
  std::promise<std::string> told;
  WorkWatch watch(limits, [&](const std::string& what) { told.set_value(what); });
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  { const WorkWatch::Task quick(watch, "quick work", std::chrono::hours(1), nullptr); }
  const WorkWatch::Task task(watch, "endless work", std::chrono::milliseconds(5), stop);
  EXPECT_THAT(told.get_future().get(), HasSubstr("endless work takes longer than 0.005 s"));
  EXPECT_TRUE(*stop);
  EXPECT_TRUE(task.overdue());
}

TEST(WorkWatch, WorkMayHaveMoreTimeToStop) {
  WorkLimits limits;
  limits.grace = std::chrono::milliseconds(5);
  std::promise<std::string> told;
  WorkWatch watch(limits, [&](const std::string& what) { told.set_value(what); });
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const std::chrono::milliseconds limit(1);
  const WorkWatch::Task patient(watch, "a load in a hurry", limit, stop, std::chrono::hours(1));
  while (!*stop) std::this_thread::yield();
  const WorkWatch::Task task(watch, "endless work", limit, nullptr);
  EXPECT_THAT(told.get_future().get(), HasSubstr("endless work")) << "it is told only once";
}

TEST(WorkWatch, TimeInWhichWorkIsHeldDoesNotCount) {
  constexpr std::chrono::milliseconds kLimit(100);
  WorkWatch watch(WorkLimits{});
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const auto stop_later = std::make_shared<std::atomic<bool>>(false);
  WorkWatch::Task task(watch, "held work", kLimit, stop);
  task.hold();
  {
    const WorkWatch::Task later(watch, "work", kLimit, stop_later);
    while (!*stop_later) std::this_thread::yield();
  }
  EXPECT_FALSE(*stop);
  EXPECT_FALSE(task.overdue());
  task.go_on();
  while (!*stop) std::this_thread::yield();
  EXPECT_TRUE(task.overdue());
}

}  // namespace
}  // namespace pareto::daemon
