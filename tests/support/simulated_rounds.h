// Rounds as a sweep measures them on a machine that is never quite the same: for tests of what is
// concluded from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "coordinator/statistics/statistics.h"

namespace pareto::test {

/// The ways in which a machine disturbs what it measures; defaults as seen on two cores that others
/// use as well. Shares of a figure.
struct Disturbance {
  double drift = 0.04;  ///< deviation of a round: all its trials are that much slower or faster
  double unit = 0.01;   ///< deviation of a trial in a round
  double noise = 0.06;  ///< deviation of a request
  double correlation = 0.6;   ///< correlation of neighbouring requests
  double outliers = 0.02;     ///< this share of requests …
  double outlier_factor = 3;  ///< … takes this many times as long
  int requests = 12;          ///< a round, for latency
  int completions = 40;       ///< a round, for throughput
};

/// One run: what was drawn for a round holds for all its trials.
class SimulatedRun {
 public:
  SimulatedRun(const Disturbance& disturbance, int rounds, std::uint64_t seed);

  /// Returns a trial whose figures truly are these, with samples only.
  results::TrialRecord measure(const std::string& id, double latency_ms, double samples_per_s);

 private:
  std::vector<double> samples(double typical, double round_factor, int count);

  const Disturbance disturbance_;
  statistics::Random random_;
  std::vector<double> drift_;  ///< a factor a round
};

}  // namespace pareto::test
