// Parts of a run that a store keeps as JSON (coordinator/results/schema.h): those of a trial
// without a column, and a run's coordinator, devices and passes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::results {

/// Returns plan, boundary, stages, links and samples of a trial.
std::string details_to_json(const TrialRecord& trial);
/// Puts them back. Fails: kCorrupt.
Expected<> details_from_json(const std::string& text, TrialRecord& trial);

std::string devices_to_json(const std::vector<DeviceRecord>& devices);
/// Reads what devices_to_json() wrote. Fails: kCorrupt.
Expected<std::vector<DeviceRecord>> devices_from_json(const std::string& text);

/// Returns the JSON; empty if there is none.
std::string coordinator_to_json(const std::optional<Machine>& machine);
/// Reads what coordinator_to_json() wrote. Fails: kCorrupt.
Expected<std::optional<Machine>> coordinator_from_json(const std::string& text);

std::string passes_to_json(const std::vector<PassRecord>& passes);
/// Reads what passes_to_json() wrote. Fails: kCorrupt.
Expected<std::vector<PassRecord>> passes_from_json(const std::string& text);

}  // namespace pareto::results
