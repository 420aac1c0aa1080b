// Contestants that train: a step of the whole model and of its halves, and the way back through the
// first half, with the values that its way forward kept and without.
#pragma once

#include <vector>

#include "coordinator/modes/contestant.h"
#include "coordinator/modes/mode_bench.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::modes {

/// Loads trainers and returns what takes turns. The model outlives it. Labels are made up, and the
/// learning rate is 0, so that every turn does equal work. `loss`: of the model's outputs.
/// Fails: as training_stages() and load_runner() do.
Expected<std::vector<Contestant>> training_contestants(const model::Model& model,
                                                       const model::Model& loss,
                                                       const ModeBenchOptions& options);

}  // namespace pareto::modes
