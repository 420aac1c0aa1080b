// JSON of a trial's figures and a run's passes, in the document of `sweep --json` and in the store.
// Times are in ms, sizes in bytes. Functions that read it throw as nlohmann does.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "coordinator/results/record.h"

namespace pareto::results {

nlohmann::ordered_json stage_json(const StageFigures& stage);
StageFigures stage_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json link_json(const LinkFigures& link);
LinkFigures link_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json network_json(const NetworkFigures& network);
NetworkFigures network_from(const nlohmann::ordered_json& json);
nlohmann::ordered_json prediction_json(const Prediction& prediction);
Prediction prediction_from(const nlohmann::ordered_json& json);
/// Returns the JSON of the error. A number that is infinite or NaN is null in the text, and is read
/// back as infinite.
nlohmann::ordered_json output_error_json(const OutputError& error);
OutputError output_error_from(const nlohmann::ordered_json& json);

/// Writes figures of accuracy, and reads them. Throws if there is no sample, or more are right than
/// there are.
nlohmann::ordered_json accuracy_json(const AccuracyFigures& accuracy);
AccuracyFigures accuracy_from(const nlohmann::ordered_json& json);

/// Returns the times in seconds, without those of single pipelines.
nlohmann::ordered_json spent_json(const TimeSpent& spent);

/// Returns an array, without what only a store keeps of a pass.
nlohmann::ordered_json passes_json(const std::vector<PassRecord>& passes);

}  // namespace pareto::results
