// A run as a sweep would leave it, made up: two devices, every kind of trial. For stores, reports
// and commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/results/record.h"

namespace pareto::test {

/// A condition between the two devices, measured to be exactly this. The coordinator is on the
/// first device.
struct SyntheticNetwork {
  std::string name;
  double round_trip_ms = 0;
  double mbit_per_s = 0;
};

struct SyntheticOptions {
  std::vector<std::string> transports{"tcp", "grpc"};
  std::vector<std::int64_t> batches{1, 8};
  int split_points = 19;
  bool with_failure = true;  ///< the last split over grpc at the last batch failed
  std::uint64_t seed = 7;
  std::vector<SyntheticNetwork> networks{};  ///< empty: "none", of which nothing was measured
  double slow_factor = 1.6;                  ///< time of the second device over that of the first
};

/// Figures follow a simple cost model with noise; fronts are marked; samples are there. The same
/// options give the same run.
results::RunRecord synthetic_run(const SyntheticOptions& options = {});
/// Returns a run with the figures of its objectives, as commands show it.
results::RunRecord with_objectives(results::RunRecord run);

/// Returns "none", and conditions "R-near" and "R-far" of R = 1, 4, 20, 100, 1000 Mbit/s with round
/// trips of 4 and 60 ms, in no order; the second device is a fast one, so that the best split moves
/// with the rate. Of all trials under "1-far" none came across.
results::RunRecord synthetic_network_sweep();

/// Returns the same, but "1-far" could not be had: its trials were skipped.
results::RunRecord synthetic_skipped_sweep();

/// Returns 225 split points under "none" and three slower networks.
results::RunRecord synthetic_large_sweep();

/// Returns every third trial was left at its prediction, the first of them perhaps on the front;
/// those of the others were 5 % off in latency and 4 % in throughput.
results::RunRecord synthetic_adaptive_sweep();

/// Returns the plans of two and of three stages: a second cut, of 1568 bytes a sample, behind every
/// other one.
results::RunRecord synthetic_chain_sweep();

}  // namespace pareto::test
