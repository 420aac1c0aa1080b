// The cuts of a plan as JSON: in the document, where shapes are at the trial's batch, and as they
// are kept, where they are symbolic.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::results {

/// Returns the split as in a trial's "split" in the document of `sweep --json`: all cuts together,
/// and under "cuts" each by itself.
nlohmann::ordered_json split_json(const SplitRecord& split, std::int64_t batch);

/// Returns an array of the cuts; dimensions are [constant, per sample].
nlohmann::ordered_json kept_cuts(const SplitRecord& split);
/// Fills boundary and cuts of a split from a trial's details; its other fields are known. They have
/// "cuts", or, in runs from before plans had several, "boundary". Throws as nlohmann does.
/// Fails: kCorrupt (another number of cuts than the plan has).
Expected<> read_cuts(const nlohmann::ordered_json& details, const plan::Plan& plan,
                     SplitRecord& split);

}  // namespace pareto::results
