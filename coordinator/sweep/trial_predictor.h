// Predicts the trials of a sweep before any of them is measured. Fills in TrialRecord::prediction
// of every trial that the cost model covers.
//
//   devices --profile--> Profiler --probe codecs, and links once per condition-->
//     CostInputs --evaluate, replay--> predictions
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/profile/profiler.h"
#include "coordinator/results/record.h"
#include "coordinator/results/store.h"
#include "coordinator/sweep/sweep.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"

namespace pareto::sweep {

/// Returns whether the trial has neither a prediction nor a measured round, and no device lacks
/// room for it. Such a trial is new, or its network could not be applied before.
bool lacks_prediction(const results::TrialRecord& trial);

struct PredictedThroughput {
  double messages_per_s = 0;
  /// Window in messages. 0 means the best window, of unknown size.
  int window = 0;
};
/// Predicts the throughput of a plan with `window` messages in flight. 0 means the window that a
/// sweep finds (coordinator/load/window_search.h). `evaluation` is that of the placement. Jitter
/// counts if it is known of all devices.
PredictedThroughput predicted_throughput(const planning::CostInputs& inputs,
                                         const planning::Placement& placement,
                                         const planning::Evaluation& evaluation, int window);

/// Predicts the latency of a request that travels in micro-batches. The first passes as a message
/// does, and the others follow at the pace of the bottleneck. `message` is the evaluation of a
/// whole message.
Nanoseconds latency_of_messages(const planning::Evaluation& message, const plan::Plan& plan);

/// Fills in the predictions that trials lack, and leaves the network at rest:
/// - profiles devices that have no profile yet, under the network's resting condition, and stores
///   it;
/// - probes the codecs and links that trials use (coordinator/sweep/trial_links.h);
/// - probes links again under conditions whose definition does not say enough
///   (partitioner/planning/inputs/condition_links.h).
///
/// In an adaptive sweep, a trial that a device has no room for has failed. Other trials without a
/// prediction must be measured. `stop` ends it early. Returns a line for each profile that was
/// measured while its machine was busy.
/// Fails: as Profiler does; kClosed (stopped); as Network::apply (a condition that a trial needs).
Expected<std::vector<std::string>> predict_trials(
    const model::Model& model, const cluster::Cluster& cluster, results::ResultStore& store,
    const SweepOptions& options, std::vector<results::TrialRecord>& trials,
    const std::atomic<bool>& stop, const profile::Profiler::Progress& progress);

}  // namespace pareto::sweep
