// Best plans by network: for each batch and condition of a run, the measured network and the best
// trials. The table, the document of `--json`, and through it the page all show this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/results/record.h"

namespace pareto::results {

/// The best of some plans; both null if none of them was measured. Among equals, the one better in
/// the other figure, then the earlier in the run.
struct BestTrials {
  const TrialRecord* fastest = nullptr;          ///< lowest latency, p50
  const TrialRecord* most_productive = nullptr;  ///< most samples a second
};

/// Trials of one batch under one condition, all transports together. Its pointers are valid as long
/// as the run is neither changed nor moved.
struct NetworkBest {
  std::string condition;
  std::int64_t batch = 1;
  /// The network as it was measured first; no value means that it was never reached, or left as it
  /// is without being measured.
  std::optional<NetworkFigures> network;
  std::size_t trials = 0;
  std::size_t measured = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;  ///< trials left that were not measured yet
  BestTrials best;          ///< best of every plan
  BestTrials split;         ///< best of those that cut the model
  BestTrials unsplit;       ///< best of those with one device
};

/// Returns the best plans, ascending by batch. Then "none" comes first, and the others by forward
/// rate, highest first. At equal rates the shortest round trip comes first. Conditions without
/// measurements come last. Empty for a run without trials.
std::vector<NetworkBest> best_by_network(const RunRecord& run);

}  // namespace pareto::results
