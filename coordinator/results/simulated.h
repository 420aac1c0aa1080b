// Records of runs that paretoctl simulate made to be shown; none is stored. Their options say so.
#pragma once

#include <string_view>

#include "coordinator/results/record.h"

namespace pareto::results {

/// The part of a record that was simulated.
enum class Simulated {
  kNothing,
  kFigures,      ///< all: nothing was measured, its trials are classes of pipelines
  kPredictions,  ///< predictions alone, from what was measured
};
/// Returns "", "figures", "predictions".
std::string_view to_string(Simulated simulated);

Simulated simulated_in(const RunRecord& run);
/// Keeps what else its options say.
void mark_simulated(RunRecord& run, Simulated simulated);

}  // namespace pareto::results
