// A stored run whose figures are made again from its rounds.
//
// A sweep settles its figures when it stops. A sweep that was killed did not; nor did one of an
// earlier version, which kept medians as the figures that are shown. Both come to what the sweep
// would have printed, because figures follow from what is stored with a run.
#pragma once

#include <string>

#include "coordinator/results/record.h"
#include "coordinator/results/store.h"
#include "core/base/error.h"

namespace pareto::replay {

/// Makes the figures, the front and P(front) of the run from its rounds and predictions, as its
/// sweep does.
void settle(results::RunRecord& run);

/// Returns a stored run with its figures settled. Fails: as ResultStore::load_run.
Expected<results::RunRecord> load_settled(results::ResultStore& store, const std::string& id);

}  // namespace pareto::replay
