// What a pipeline makes of its bottleneck: throughput and response time against what the slowest of
// its stages and links allows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/load/load.h"
#include "core/base/error.h"
#include "tests/bench/bench.h"

namespace pareto::bench {

/// Times in ms. Under load they are means: Little's law and a bottleneck's limit hold for those,
/// jitter and all.
struct PipelineFigures {
  std::vector<double> compute;  ///< compute of each stage at window 1, median
  double latency = 0;           ///< L: of a request at window 1, median
  double bottleneck =
      0;                ///< B: of the slowest stage's compute or link's occupancy under load, mean
  int window = 0;       ///< ceil(L / B) + 2, B at window 1
  double interval = 0;  ///< 1 / X: between completions under load, mean
  double response = 0;  ///< R: of a request under load, mean
};

/// Loads a pipeline at window 1, then at `window`, for about `duration` each; all figures from the
/// timelines of those requests. Fails: as Load::run.
Expected<PipelineFigures> measure_pipeline(load::Load load, const Value& request,
                                           Nanoseconds duration);

/// `efficiency/NAME`: X · B, the share of the time that the bottleneck is at work, held against
/// `bar`; `loaded_response/NAME`: R / max(L, W · B).
std::vector<Row> pipeline_rows(const std::string& name, const PipelineFigures& figures,
                               std::optional<double> bar, const std::string& what);

}  // namespace pareto::bench
