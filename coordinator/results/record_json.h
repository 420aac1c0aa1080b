// Runs and trials as JSON: the document of `sweep --json`. What a store keeps:
// coordinator/results/stored_json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "core/base/json_text.h"

namespace pareto::results {

/// Returns the status of a trial: "ok" (measured), "failed", "skipped", or, not measured yet,
/// "predicted" or "planned" (without any figures).
std::string status_of(const TrialRecord& trial);

/// Returns one trial as in `sweep --json`. Times in ms, sizes in bytes; boundary shapes at the
/// trial's batch. Figures only where it was measured, "failure" only where it failed or was
/// skipped.
nlohmann::ordered_json to_json(const TrialRecord& trial);
nlohmann::ordered_json to_json(const DeviceRecord& device);
nlohmann::ordered_json to_json(const Machine& machine);
/// Returns the whole document; its schema: tests/golden/sweep.schema.json. Samples are left out.
nlohmann::ordered_json to_json(const RunRecord& run);
/// Returns whether only trials that may be on the front were measured. A run without options is
/// adaptive if it has predictions.
bool is_adaptive(const RunRecord& run);
/// Ids of the trials on the front, in order of latency.
std::vector<std::string> front_ids(const RunRecord& run);

}  // namespace pareto::results
