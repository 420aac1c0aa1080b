// Turns among real threads.
#include "daemon/device/device_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/pause.h"

namespace pareto::daemon::device {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

std::unique_ptr<DeviceScheduler> device(int cores, const std::string& policy = "fair",
                                        double busy = 1) {
  return DeviceScheduler::make({cores, policy, busy}).value();
}

/// Waits until that many wait for a turn.
void wait_until_waiting(const DeviceScheduler& device, std::uint64_t count) {
  while (device.read().waiting != count) std::this_thread::yield();
}

TEST(DeviceScheduler, RefusesAnUnknownPolicy) {
  const auto unknown = DeviceScheduler::make({1, "lifo"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(unknown.error().message, HasSubstr("fair, fifo, deadline"));
}

TEST(DeviceScheduler, AFreeCoreIsGivenAtOnceAndGivenBack) {
  const auto cores = device(1);
  const auto taker = cores->open(1, 1);
  {
    const auto turn = taker->try_take({});
    ASSERT_TRUE(turn);
    EXPECT_FALSE(cores->open(2, 1)->try_take({}));
  }
  EXPECT_TRUE(taker->take({}));
  EXPECT_GT(cores->read().busy, Nanoseconds(0));
}

TEST(DeviceScheduler, WhoWaitsIsWokenWhenATurnIsGivenBack) {
  const auto cores = device(1);
  const auto one = cores->open(1, 1);
  const auto two = cores->open(2, 1);
  std::optional<DeviceScheduler::Turn> turn = one->try_take({});
  std::jthread waits([&] { EXPECT_TRUE(two->take({})); });
  wait_until_waiting(*cores, 1);
  EXPECT_FALSE(one->try_take({})) << "another one waits";
  turn.reset();
  waits.join();
  EXPECT_EQ(cores->read().waiting, 0U);
}

TEST(DeviceScheduler, ADeadlineThatPassesEndsTheWait) {
  const auto cores = device(1);
  const auto one = cores->open(1, 1);
  const auto held = one->try_take({});
  const auto late = cores->open(2, 1)->take({.deadline = now() + milliseconds(2)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(late.error().message, HasSubstr("its deadline passed"));
  EXPECT_EQ(cores->read().waiting, 0U);
  EXPECT_FALSE(one->try_take({.deadline = now()}));
}

TEST(DeviceScheduler, WhoIsClosedLeavesTheQueueAtOnce) {
  const auto cores = device(2);
  const auto one = cores->open(1, 1);
  auto held = one->try_take({});
  const auto wide = cores->open(2, 1);
  const auto narrow = cores->open(3, 1);
  std::jthread waits([&] {
    const auto turn = wide->take({.cores = 2, .arrived = now()});
    ASSERT_FALSE(turn);
    EXPECT_EQ(turn.error().code, ErrorCode::kClosed);
  });
  wait_until_waiting(*cores, 1);
  // The wide one is next, and keeps the free core.
  std::jthread behind([&] { EXPECT_TRUE(narrow->take({.arrived = now()})); });
  wait_until_waiting(*cores, 2);
  wide->close();
  waits.join();
  behind.join();
  EXPECT_FALSE(wide->try_take({}));
  EXPECT_EQ(wide->take({}).error().code, ErrorCode::kClosed);
}

TEST(DeviceScheduler, TheBudgetOpensByItself) {
  const auto cores = device(1, "fifo", 0.1);
  const auto taker = cores->open(1, 1);
  const auto other = cores->open(2, 1);
  const TimePoint begin = now();
  std::atomic<int> turns{0};
  const auto compute = [&](TurnTaker& by) {
    // Longer than the budget that is kept allows.
    const auto turn = by.take({.arrived = now()});
    ASSERT_TRUE(turn);
    for (const TimePoint start = now(); now() < start + milliseconds(120);) {
    }
    ++turns;
  };
  {
    std::jthread one([&] { compute(*taker); });
    std::jthread two([&] { compute(*other); });
  }
  EXPECT_EQ(turns, 2);
  EXPECT_GE(cores->read().busy, milliseconds(240));
  // The first turn used 120 ms. 20 ms were there, and 12 came in: the others take 880 ms.
  EXPECT_GE(now() - begin, milliseconds(240 + 875));
}

TEST(DeviceScheduler, LiftingTheLimitWakesWhoWaits) {
  const auto cores = device(1, "fair", 0.01);
  const auto taker = cores->open(1, 1);
  {
    const auto turn = taker->take({});
    for (const TimePoint start = now(); now() < start + milliseconds(30);) {
    }
  }
  EXPECT_FALSE(taker->try_take({}));
  std::jthread waits([&] { EXPECT_TRUE(taker->take({})); });
  wait_until_waiting(*cores, 1);
  cores->set_busy(1);
}

/// Works until `done`, and pauses if that is wanted. Returns false if it shall end.
bool work_until(const std::atomic<bool>& done) {
  while (!done) {
    if (!pause_if_wanted()) return false;
  }
  return true;
}

TEST(DeviceScheduler, ATurnIsPausedAndGoesOn) {
  const auto cores = device(1, "deadline");
  const auto batch = cores->open(1, 1);
  const auto urgent = cores->open(2, 1);
  std::atomic<bool> computed{false};
  auto turn = batch->try_take({.can_pause = true});
  ASSERT_TRUE(turn);
  std::jthread comes([&] {
    const auto mine = urgent->take({.deadline = now() + std::chrono::hours(1)});
    EXPECT_TRUE(mine);
    EXPECT_FALSE(batch->try_take({})) << "one turn at a time";
    computed = true;
  });
  const PauseScope scope(&*turn);
  EXPECT_TRUE(work_until(computed));
  EXPECT_FALSE(urgent->try_take({})) << "the first one has its turn again";
  turn.reset();
  EXPECT_TRUE(urgent->try_take({}));
}

TEST(DeviceScheduler, AStageThatIsClosedWhileItIsPausedEnds) {
  const auto cores = device(1, "deadline");
  const auto batch = cores->open(1, 1);
  const auto urgent = cores->open(2, 1);
  auto turn = batch->try_take({.can_pause = true});
  std::atomic<bool> ends{false};
  std::jthread comes([&] {
    const auto mine = urgent->take({.deadline = now() + std::chrono::hours(1)});
    EXPECT_TRUE(mine);
    batch->close();
    while (!ends) std::this_thread::yield();
  });
  {
    const PauseScope scope(&*turn);
    EXPECT_FALSE(work_until(ends));
    EXPECT_FALSE(pause_if_wanted()) << "nor does it go on later";
  }
  ends = true;
  turn.reset();
  comes.join();
  EXPECT_EQ(cores->read().waiting, 0U);
  EXPECT_TRUE(urgent->try_take({}));
}

TEST(DeviceScheduler, OthersComputeNextToAStageThatDoesNotEnd) {
  const auto cores = device(1);
  const auto stuck = cores->open(1, 1);
  const auto turn = stuck->try_take({});
  const auto other = cores->open(2, 1);
  std::jthread waits([&] { EXPECT_TRUE(other->take({})); });
  wait_until_waiting(*cores, 1);
  stuck->close();
  stuck->let_go();
}

TEST(DeviceScheduler, ManyThreadsNeverHoldMoreThanThereIs) {
  for (const std::string& policy : turn_policy_names()) {
    constexpr int kCores = 3;
    const auto cores = device(kCores, policy);
    std::atomic<int> held{0};
    std::atomic<int> most{0};
    std::atomic<int> alone{0};
    std::atomic<int> served{0};
    const int shard = 0;
    {
      std::vector<std::jthread> threads;
      for (int id = 0; id < 6; ++id) {
        threads.emplace_back([&, id] {
          const auto taker = cores->open(static_cast<std::uint64_t>(id % 4), 1 + id);
          for (int i = 0; i < 200; ++i) {
            const int wanted = 1 + (id + i) % kCores;
            TurnRequest request{.cores = wanted, .priority = i % 3, .arrived = now()};
            if (id % 2 == 0) request.alone = &shard;
            if (i % 5 == 0) request.deadline = now() + std::chrono::microseconds(200);
            request.can_pause = i % 2 == 0;
            auto turn = taker->take(request);
            if (!turn) continue;
            if (turn->is_wanted()) {
              ASSERT_TRUE(turn->pause());
            }
            const int now_held = held += wanted;
            for (int seen = most; now_held > seen && !most.compare_exchange_weak(seen, now_held);) {
            }
            if (request.alone != nullptr) {
              EXPECT_EQ(++alone, 1);
            }
            std::this_thread::yield();
            if (request.alone != nullptr) --alone;
            held -= wanted;
            ++served;
          }
        });
      }
    }
    EXPECT_LE(most, kCores) << policy;
    EXPECT_GE(served, 6 * 160) << policy;
    EXPECT_EQ(cores->read().waiting, 0U) << policy;
  }
}

TEST(DeviceScheduler, StagesThatCloseWhileManyWaitLeaveNobodyBehind) {
  const auto cores = device(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<TurnTaker>> takers;
    for (std::uint64_t i = 0; i < 4; ++i) takers.push_back(cores->open(i, 1));
    std::vector<std::jthread> threads;
    for (const auto& taker : takers) {
      threads.emplace_back([&] {
        while (taker->take({.arrived = now()})) {
        }
      });
    }
    for (const auto& taker : takers) taker->close();
    threads.clear();
    EXPECT_EQ(cores->read().waiting, 0U);
    EXPECT_TRUE(cores->open(9, 1)->try_take({}));
  }
}

}  // namespace
}  // namespace pareto::daemon::device
