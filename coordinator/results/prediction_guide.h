// The one judgement on predictions: whether they say anything of plans that were not measured. A
// race for the front goes by it, and so does what is shown of a run.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/results/kept_order.h"
#include "coordinator/results/record.h"

namespace pareto::results {

/// The figures of the plans of one batch and condition, as predicted and as measured.
struct PredictedGroup {
  std::vector<PredictedFigure> latency;     ///< one for each plan that has both
  std::vector<PredictedFigure> throughput;  ///< likewise
  bool doubted = false;                     ///< predictions stem from a busy machine
};

/// The judgement on a group's predictions.
struct PredictionGuide {
  bool guides = true;               ///< they may rule out plans that were not measured
  bool breaks_latencies = false;    ///< plans of the group stand in another order of latency
  bool breaks_throughputs = false;  ///< likewise
};

/// Judges each group. Predictions guide unless an order is broken, in the group or in all groups
/// together: groups share devices. If too few pairs were measured to tell, predictions guide,
/// unless they are doubted.
std::vector<PredictionGuide> prediction_guides(std::span<const PredictedGroup> groups);

/// The batch and the condition of trials.
using GroupKey = std::pair<std::int64_t, std::string>;

/// Judges each group of trials that has predictions. What was measured is what a race saw in the
/// rounds (Prediction::seen_latency_ms) if there was one, else the median of the rounds.
std::map<GroupKey, PredictionGuide> prediction_guides(const std::vector<TrialRecord>& trials);

/// Returns whether a trial has a prediction and no measurement, and did not fail.
bool is_predicted_only(const TrialRecord& trial);

/// Leaves P(front) unsettled of trials that were predicted only by predictions that are no guide:
/// nobody knows it.
void unsettle_unguided(std::vector<TrialRecord>& trials);

}  // namespace pareto::results
