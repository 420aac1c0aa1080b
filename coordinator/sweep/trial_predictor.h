// What the trials of a sweep will take, before any of them is measured: TrialRecord::prediction of every trial that the cost model covers.
//
//   devices --profile--> Profiler --probe codecs, and links once per condition--> CostInputs --evaluate, replay--> predictions
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

/// Whether neither a prediction nor a measured round is there, and room for it: of a new trial, or one whose network could not be had before.
bool lacks_prediction(const results::TrialRecord& trial);

struct PredictedThroughput {
  double messages_per_s = 0;
  int window = 0;  ///< in messages; 0: the best there is, of which is not known how few it needs
};
/// Of a plan whose messages take that evaluation, under a window of messages; 0: under the one that a sweep finds (coordinator/load/window_search.h). With jitter where that is known of all
/// its devices. `evaluation`: of the placement.
PredictedThroughput predicted_throughput(const planning::CostInputs& inputs,
                                         const planning::Placement& placement,
                                         const planning::Evaluation& evaluation, int window);

/// Of a request that travels in micro-batches: the first passes as a message does, and the others come behind it at the pace of the bottleneck.
/// `message`: of a whole one.
Nanoseconds latency_of_messages(const planning::Evaluation& message, const plan::Plan& plan);

/// Profiles the devices where that is not known yet (under the network's resting condition; kept in the store), probes codecs and links as
/// trials use them (coordinator/sweep/trial_links.h), links again under each condition whose definition does not say enough
/// (partitioner/planning/inputs/condition_links.h), and fills in the predictions that trials lack. Trials of an adaptive sweep that a device had no room for have failed; others without a prediction have to
/// be measured. Leaves the network at rest. Returns a line for each profile that was measured while its machine was busy. `stop` ends it early. Fails: as Profiler does; kClosed where it was stopped; where the network cannot be what a trial asks for.
Expected<std::vector<std::string>> predict_trials(
    const model::Model& model, const cluster::Cluster& cluster, results::ResultStore& store,
    const SweepOptions& options, std::vector<results::TrialRecord>& trials,
    const std::atomic<bool>& stop, const profile::Profiler::Progress& progress);

}  // namespace pareto::sweep
