// Measures one trial, a unit (one round of it) at a time, and turns what was seen into the trial's figures.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "client/cluster/deployment.h"
#include "client/experiment/load.h"
#include "client/results/record.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::client {

/// How much is measured in one unit.
struct UnitBudget {
  std::chrono::duration<double> slice{
      0.4};  ///< at most two fifths for latency, the rest for throughput
  int latency_requests =
      12;  ///< at most; fewer where they do not fit the slice, never below kFewestRequests
};

inline constexpr int kFewestRequests = 8;
/// Throughput is measured for this many latencies and at least kShortestThroughput, if the slice has room for them …
inline constexpr double kThroughputLatencies = 30;
inline constexpr std::chrono::duration<double> kShortestThroughput{0.1};
/// … and in any case for so many completions between fill and drain.
inline constexpr int kFewestIntervals = 12;
/// Requests discarded at the beginning of a unit that is not its trial's first: caches are cold, connections are not.
inline constexpr int kRewarmRequests = 3;

/// The rules above in words, for the report.
std::string describe_rules(const UnitBudget& budget, int rounds);

/// Threads: one owner.
class TrialMeter {
 public:
  explicit TrialMeter(std::uint64_t seed) : seed_(seed) {}

  /// One round through an open deployment: warm-up, latency at window 1, throughput at `window` (0: the automatic one, found once
  /// from the stages' times). `fresh`: the deployment was not measured before. Fails: as Load::run.
  Expected<> measure(Deployment& deployment, const Value& request, int window, int round,
                     bool fresh, const UnitBudget& budget);

  /// Fills all figures of a trial from the rounds measured. `deployment`: the one of the last round.
  void summarize(const Deployment& deployment, TrialRecord& trial) const;

 private:
  struct StageSamples {
    std::vector<double> compute_ms;
    std::vector<double> queue_ms;
    std::vector<double> receive_ms;
    std::vector<double> encode_ms;
  };
  Expected<> warm_up(Load& load, const Value& request, int requests);
  Expected<> measure_latency(Load& load, const Value& request, int round, bool fresh,
                             const UnitBudget& budget);
  Expected<> measure_throughput(Load& load, const Value& request, const UnitBudget& budget);
  Expected<> keep(const LoadResult& result, int round, std::size_t stages);
  void choose_window(int wanted);
  std::chrono::milliseconds request_timeout(int window) const;

  const std::uint64_t seed_;
  double expected_latency_ms_ = 0;  ///< of the last few requests; 0 = not known yet
  int window_ = 0;                  ///< for throughput; 0 = not chosen yet
  std::size_t stage_count_ = 0;
  std::vector<double> latency_ms_;
  std::vector<int> latency_rounds_;
  std::vector<double> sink_receive_ms_;
  std::vector<StageSamples> stages_;
  std::vector<std::vector<double>> intervals_s_;  ///< [round][completion]
};

}  // namespace pareto::client
