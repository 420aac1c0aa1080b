// A run as a sweep would leave it, made up: two devices, every kind of trial. For stores, reports and commands.
#pragma once

#include <cstdint>
#include <vector>

#include "client/results/record.h"

namespace pareto::test {

struct SyntheticOptions {
  std::vector<std::string> transports{"tcp", "grpc"};
  std::vector<std::int64_t> batches{1, 8};
  int split_points = 19;
  bool with_failure = true;  ///< the last split over grpc at the last batch failed
  std::uint64_t seed = 7;
};

/// Figures follow a simple cost model with noise; fronts are marked; samples are there. The same options give the same run.
client::RunRecord synthetic_run(const SyntheticOptions& options = {});

}  // namespace pareto::test
