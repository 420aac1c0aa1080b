// Setup and progress of a training as JSON: coordinator/train/FORMAT.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "coordinator/train/training_setup.h"
#include "coordinator/train/training_state.h"
#include "core/base/error.h"

namespace pareto::train {

nlohmann::ordered_json setup_json(const TrainingSetup& setup);
/// Reads what setup_json() wrote. Fails: kCorrupt naming the key.
Expected<TrainingSetup> setup_from_json(const nlohmann::ordered_json& json);

nlohmann::ordered_json progress_json(const TrainingProgress& progress);
/// Reads what progress_json() wrote. Fails: kCorrupt naming the key.
Expected<TrainingProgress> progress_from_json(const nlohmann::ordered_json& json);

/// Returns one epoch as --json and checkpoints have it.
nlohmann::ordered_json epoch_json(const EpochRecord& epoch);

}  // namespace pareto::train
