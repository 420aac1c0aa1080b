// Runs and trials as JSON: the document of `sweep --json`, and what a store keeps of a trial beside its columns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/results/record.h"
#include "core/base/error.h"

namespace pareto::client {

/// Where a trial stands: "ok" (measured), "failed", or "planned" (not measured yet; such a trial has no figures).
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

/// Plan, boundary, stages, links and samples of a trial: what has no column of its own.
std::string details_to_json(const TrialRecord& trial);
/// Puts them back. Fails: kCorrupt.
Expected<> details_from_json(const std::string& text, TrialRecord& trial);

std::string devices_to_json(const std::vector<DeviceRecord>& devices);
Expected<std::vector<DeviceRecord>> devices_from_json(const std::string& text);
std::string passes_to_json(const std::vector<PassRecord>& passes);
Expected<std::vector<PassRecord>> passes_from_json(const std::string& text);

}  // namespace pareto::client
