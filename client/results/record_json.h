// Runs and trials as JSON: the document of `sweep --json`. What a store keeps: client/results/stored_json.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/results/record.h"

namespace pareto::client {

/// Where a trial stands: "ok" (measured), "failed", or, not measured yet, "predicted" or "planned" (without any figures).
std::string status_of(const TrialRecord& trial);

/// One trial as in `sweep --json`. Times in ms, sizes in bytes; boundary shapes at the trial's batch. Figures only where it was
/// measured, "failure" only where it failed.
nlohmann::ordered_json to_json(const TrialRecord& trial);
nlohmann::ordered_json to_json(const DeviceRecord& device);
/// The whole document; its schema: tests/golden/sweep.schema.json. Samples are left out.
nlohmann::ordered_json to_json(const RunRecord& run);
/// Ids of the trials on the front, in order of latency.
std::vector<std::string> front_ids(const RunRecord& run);

/// JSON as text; bytes that are no UTF-8 (a path may hold any) become U+FFFD, and what is no finite number null. indent < 0: one
/// line.
std::string dump(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace pareto::client
