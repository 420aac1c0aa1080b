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
      "A unit (one trial in one round) has a slice of 0.40 s. A trial's first unit on a connection "
      "discards 10 requests, then measures again (at most 3 times) until the halves of its "
      "latencies agree within 1 % or do not differ; later units discard 3. Latency: window 1, 12 "
      "requests a unit, fewer where they exceed two fifths of the slice, at least 8; of replicas "
      "the slowest of each turn. Throughput: slope of the completions after the first 2 x window "
      "and before the last window, in whole windows, for 30 latencies and at least 0.1 s, within "
      "the rest of the slice but for 12 completions at least. A window that is not given is the "
      "smallest within 1 % of the best throughput, searched in a trial's first unit from 1.25 x "
      "latency / bottleneck to twice as much, by two loads a window of at least 8 completions; in "
      "an adaptive sweep it is the predicted one, and at least 1.25 x latency / bottleneck. Where "
      "a request took 50 ms longer than most, and half as long again, a connection paused, and "
      "throughput is that of the load which is the median of 3. Plans whose requests take more "
      "than 250 ms have fewer of all: one discarded, at least 3 for latency and 2 completions for "
      "throughput after one window and up to the last, that one of 3 such runs which took the "
      "median time, at a window of 1.25 x latency / bottleneck; where one took 10 % longer than "
      "another, so many are measured again, and it is that of all. Intervals: 95 %, Student's of "
      "the rounds' logarithms, a round one observation, and no narrower than by a stationary block "
      "bootstrap within the rounds, blocks of 5 x the correlation length.");
}

TEST(MeasuringRules, NeverAskForMoreRequestsThanAreWanted) {
  const std::string words = kMeasuringRules.describe({.slice = {}, .latency_requests = 2});
  EXPECT_NE(words.find("2 requests a unit, fewer"), std::string::npos);
  EXPECT_NE(words.find("of the slice, at least 2;"), std::string::npos);
  EXPECT_NE(words.find("one discarded, at least 2 for latency"), std::string::npos);
}

}  // namespace
}  // namespace pareto::sweep
