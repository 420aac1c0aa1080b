#include "coordinator/sweep/measuring_rules.h"

#include <gtest/gtest.h>

#include <vector>

namespace pareto::sweep {
namespace {

TEST(SlowRequestRule, RunsDifferIfOneTookATenthLonger) {
  const SlowRequestRule rule;
  EXPECT_FALSE(rule.runs_differ(std::vector<double>{1, 2, 2, 1, 1.5, 1.7}, 2));
  EXPECT_TRUE(rule.runs_differ(std::vector<double>{1, 2, 2, 1, 1.5, 1.9}, 2));
  EXPECT_TRUE(rule.runs_differ(std::vector<double>{0.8, 1.8, 2, 1, 1.5, 1.5}, 2));
  // What is left over is no run.
  EXPECT_FALSE(rule.runs_differ(std::vector<double>{1, 2, 2, 1, 9}, 2));
  EXPECT_FALSE(rule.runs_differ(std::vector<double>{}, 2));
}

TEST(SlowRequestRule, AppliesToMoreThanAQuarterOfASecond) {
  EXPECT_FALSE(SlowRequestRule().applies_to(0)) << "not known yet";
  EXPECT_FALSE(SlowRequestRule().applies_to(250));
  EXPECT_TRUE(SlowRequestRule().applies_to(251));
}

TEST(PauseRule, IsSeenInARequestThatTookMuchLongerThanMost) {
  const PauseRule rule;
  std::vector<double> latencies(11, 90);
  latencies.push_back(139);
  EXPECT_FALSE(rule.is_seen_in(latencies)) << "jitter";
  latencies.push_back(950);
  EXPECT_TRUE(rule.is_seen_in(latencies));
  std::vector<double> slow(11, 240);
  slow.push_back(355);
  EXPECT_FALSE(rule.is_seen_in(slow)) << "not half as long again";
  EXPECT_FALSE(rule.is_seen_in({}));
}

TEST(MeasuringRules, StandInTheReportInTheseWords) {
  EXPECT_EQ(
      kMeasuringRules.describe(
          {.slice = std::chrono::duration<double>(0.4), .latency_requests = 12}),
      "A unit is one trial in one round, and takes a slice of 0.40 s. On a new connection it "
      "discards 10 requests and measures again, at most 3 times, until the halves of its "
      "latencies agree within 1 % or do not differ. Later units discard 3 requests. Latency has "
      "window 1 and 12 requests a unit. If these exceed two fifths of the slice, there are "
      "fewer, but at least 8. Of replicas the slowest of each turn counts. Throughput is the "
      "slope of the completions in whole windows, after the first two windows and before the "
      "last one. It takes 30 latencies and at least 0.1 s within the rest of the slice, but at "
      "least 12 completions. A window that is not given is the smallest within 1 % of the best "
      "throughput. It is searched in a trial's first unit, from 1.25 x latency / bottleneck to "
      "twice as much, by two loads a window of at least 8 completions. An adaptive sweep takes "
      "the predicted window, and at least 1.25 x latency / bottleneck. If a request took 50 ms "
      "longer than most, and half as long again, a connection paused. Throughput is then that of "
      "the load with the median time, of 3. Plans whose requests take more than 250 ms are "
      "measured with fewer of them. One is discarded, and at least 3 count for latency. Their "
      "throughput takes at least 2 completions a run, after one window and up to the last, at a "
      "window of 1.25 x latency / bottleneck. Of 3 such runs, the one with the median time "
      "counts. If one of them took 10 % longer than another, as many are measured again, and the "
      "median is that of all. Intervals are 95 %: Student's, of the rounds' logarithms, with "
      "each round as one observation. They are no narrower than those of a stationary block "
      "bootstrap within the rounds, with blocks of 5 x the correlation length.");
}

TEST(MeasuringRules, NeverAskForMoreRequestsThanAreWanted) {
  const std::string words = kMeasuringRules.describe({.slice = {}, .latency_requests = 2});
  EXPECT_NE(words.find("2 requests a unit. If"), std::string::npos);
  EXPECT_NE(words.find("fewer, but at least 2."), std::string::npos);
  EXPECT_NE(words.find("and at least 2 count for latency"), std::string::npos);
}

}  // namespace
}  // namespace pareto::sweep
