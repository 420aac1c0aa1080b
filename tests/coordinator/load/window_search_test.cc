#include "coordinator/load/window_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "coordinator/statistics/statistics.h"

namespace pareto::load {
namespace {

/// `percent` of 1000 requests a second, its interval `doubt` percent to both sides.
WindowPoint point(int window, double percent, double doubt = 0) {
  return {window, percent * 10, {(percent - doubt) * 10, (percent + doubt) * 10}};
}

TEST(ChooseWindow, TakesTheSmallestWithinOnePercentOfTheBest) {
  EXPECT_EQ(choose_window({}), 1);
  EXPECT_EQ(choose_window(std::vector{point(3, 50)}), 3);
  EXPECT_EQ(choose_window(std::vector{point(4, 100), point(2, 99.1), point(1, 60)}), 2);
  EXPECT_EQ(choose_window(std::vector{point(4, 100), point(2, 98.9), point(3, 99.5)}), 3);
  // A larger window may well be worse: it is compared with the best, not with the largest.
  EXPECT_EQ(choose_window(std::vector{point(2, 97), point(3, 100), point(6, 96)}), 3);
}

TEST(ChooseWindow, GivesAWindowTheBenefitOfItsDoubtButNoMoreThanAnotherPercent) {
  EXPECT_EQ(choose_window(std::vector{point(4, 100, 0.2), point(2, 98.5, 0.2)}), 4);
  EXPECT_EQ(choose_window(std::vector{point(4, 100, 0.2), point(2, 98.5, 0.6)}), 2);
  EXPECT_EQ(choose_window(std::vector{point(4, 100, 0.2), point(2, 97.9, 30)}), 4);
  // The doubt is that of the smaller window: the best one's own does not help.
  EXPECT_EQ(choose_window(std::vector{point(4, 100, 5), point(2, 98.5, 0.1)}), 4);
}

struct Found {
  int window = 0;
  int loads = 0;
};

Found search(double latency_ms, double bottleneck_ms,
             const std::function<WindowPoint(int window)>& measure) {
  std::vector<WindowPoint> curve;
  while (const auto window = next_window(curve, latency_ms, bottleneck_ms)) {
    EXPECT_GE(*window, 1);
    EXPECT_LE(*window, kLargestWindow);
    EXPECT_LE(std::ranges::count(curve, *window, &WindowPoint::window), 1);
    curve.push_back(measure(*window));
  }
  return {choose_window(curve), static_cast<int>(curve.size())};
}

TEST(WindowSearch, FindsTheSmallestWindowOfFixedServiceTimes) {
  for (int step = 0; step < 55; ++step) {
    constexpr double kLatency = 40;
    const double bottleneck = std::pow(1.07, step);
    const auto throughput = [&](int window) {
      return std::min(window / kLatency, 1 / bottleneck) * 1e3;
    };
    const Found found = search(kLatency, bottleneck, [&](int window) {
      return WindowPoint{window, throughput(window), {throughput(window), throughput(window)}};
    });
    EXPECT_GE(throughput(found.window), 0.99e3 / bottleneck) << bottleneck;
    EXPECT_LE(found.loads, 4) << bottleneck;
    if (found.window == 1) continue;
    EXPECT_GE(found.window, 1.25 * kLatency / bottleneck) << "room";
    EXPECT_LT(found.window - 1, 1.25 * kLatency / bottleneck) << "but no more";
  }
}

TEST(WindowSearch, NeverTakesMoreThanFourteenLoads) {
  for (int step = 0; step < 56; ++step) {
    const double latency = std::pow(1.1, step);
    // Each window but the largest is worse than the one before.
    const Found found = search(latency, 1, [](int window) { return point(window, window); });
    EXPECT_GE(found.window, std::min(2 * latency * 0.99, 64.0)) << latency;
    EXPECT_LE(found.loads, 14) << latency;
  }
}

TEST(WindowSearch, TriesOneAndTwoWhereTimesAreUnknown) {
  for (const double bottleneck_ms : {0.0, -1.0, std::nan("")}) {
    EXPECT_EQ(next_window({}, 10, bottleneck_ms), 2);
    EXPECT_EQ(next_window(std::vector{point(2, 100)}, 10, bottleneck_ms), 1);
  }
  EXPECT_EQ(next_window({}, 0, 1), 2);
  EXPECT_EQ(next_window({}, 1e9, 1), kLargestWindow);
  // Nothing completed.
  EXPECT_EQ(search(10, 10, [](int window) { return point(window, 0); }).window, 1);
}

/// Completions of a closed loop through `stages` stages of mean 1 s and the given coefficient of
/// variation: each stage takes a request when it and the stage before are done with theirs.
WindowPoint simulate(int window, int stages, double cv, int requests) {
  statistics::Random random(7);
  std::vector<double> free_at(static_cast<std::size_t>(stages));
  std::vector<double> completions;
  for (int i = 0; i < requests; ++i) {
    double at = i < window ? 0 : completions[static_cast<std::size_t>(i - window)];
    for (double& free : free_at) {
      const double jitter = std::sqrt(3.0) * (2 * random.uniform() - 1);
      at = free = std::max(at, free) + 1 + cv * jitter;
    }
    completions.push_back(at);
  }
  const std::vector<double> intervals = statistics::steady_intervals(completions, window);
  return {window, statistics::throughput_of_rounds({intervals}, 1).front(),
          statistics::throughput_interval({intervals}, 1, 7)};
}

TEST(WindowSearch, JitterTakesMoreRequestsInFlight) {
  constexpr int kRequests = 6000;
  const auto steady =
      search(3000, 1000, [](int window) { return simulate(window, 3, 0.001, kRequests); });
  EXPECT_EQ(steady.window, 4) << "three have no room";
  const auto jittering =
      search(3000, 1000, [](int window) { return simulate(window, 3, 0.2, kRequests); });
  EXPECT_GT(jittering.window, 4);
  EXPECT_LE(jittering.window, 8);
  const double best = simulate(8, 3, 0.2, kRequests).throughput;
  EXPECT_GE(simulate(jittering.window, 3, 0.2, kRequests).throughput, 0.98 * best);
  EXPECT_LT(simulate(jittering.window - 1, 3, 0.2, kRequests).throughput, 0.99 * best);
}

TEST(WindowSearch, ALoadThatWasDisturbedIsNotBelieved) {
  // Three in flight are as good as four, two are not; whichever load the machine disturbs, the
  // answer stays.
  for (int disturbed = 0; disturbed < 6; ++disturbed) {
    int loads = 0;
    const Found found = search(1550, 1000, [&](int window) {
      return point(window, (window < 3 ? 90 : 100) * (loads++ == disturbed ? 0.6 : 1));
    });
    EXPECT_EQ(found.window, 3) << disturbed;
    EXPECT_LE(found.loads, 6) << disturbed;
  }
}

TEST(WindowSearch, AFewNoisyCompletionsAreEnough) {
  int right = 0;
  constexpr int kTries = 100;
  for (int seed = 0; seed < kTries; ++seed) {
    statistics::Random random(static_cast<std::uint64_t>(seed));
    const Found found = search(1550, 1000, [&](int window) {
      std::vector<double> intervals;
      for (int i = 0; i < 8; ++i) {
        intervals.push_back(std::max(1.0, 1.55 / window) * (1 + 0.05 * (2 * random.uniform() - 1)));
      }
      return WindowPoint{window, statistics::throughput_of_rounds({intervals}, 1).front(),
                         statistics::throughput_interval({intervals}, 1, 7)};
    });
    EXPECT_GE(found.window, 2);
    right += found.window == 2 ? 1 : 0;
  }
  EXPECT_GE(right, kTries * 8 / 10);
}

TEST(RoomyWindow, KeepsTheBottleneckAtWorkAlthoughStagesVary) {
  EXPECT_EQ(roomy_window(1700, 1280), 2);
  EXPECT_EQ(roomy_window(1590, 1000), 2);
  EXPECT_EQ(roomy_window(1610, 1000), 3);
  EXPECT_EQ(roomy_window(500, 80), 8);
  EXPECT_EQ(roomy_window(1005, 1000), 1) << "a request alone waits for no other";
  EXPECT_EQ(roomy_window(1020, 1000), 2);
  EXPECT_EQ(roomy_window(1e6, 1), kLargestWindow);
  EXPECT_EQ(roomy_window(500, 0), 1);
}

}  // namespace
}  // namespace pareto::load
