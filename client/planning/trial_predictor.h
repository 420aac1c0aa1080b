// What the trials of a sweep will take, before any of them is measured: TrialRecord::prediction of every trial that the cost model covers.
//
//   devices --profile--> Planner --probe codecs, and links once per condition--> CostInputs --evaluate, replay--> predictions
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "client/cluster/cluster.h"
#include "client/experiment/sweep.h"
#include "client/planning/planner.h"
#include "client/results/record.h"
#include "client/results/store.h"
#include "core/base/error.h"
#include "partitioner/cost/cost_inputs.h"
#include "partitioner/cost/evaluate.h"
#include "partitioner/graph/model.h"

namespace pareto::client {

/// Whether neither a prediction nor a measured round is there, and room for it: of a new trial, or one whose network could not be had before.
bool lacks_prediction(const TrialRecord& trial);

struct PredictedThroughput {
  double messages_per_s = 0;
  int window = 0;  ///< in messages; 0: the best there is, of which is not known how few it needs
};
/// Of a plan whose messages take that evaluation, under a window of messages; 0: under the one that a sweep finds (client/experiment/window_search.h). With jitter where that is known of all
/// its devices. `evaluation`: of the placement.
PredictedThroughput predicted_throughput(const partitioner::CostInputs& inputs,
                                         const partitioner::Placement& placement,
                                         const partitioner::Evaluation& evaluation, int window);

/// Of a request that travels in micro-batches: the first passes as a message does, and the others come behind it at the pace of the bottleneck.
/// `message`: of a whole one.
Nanoseconds latency_of_messages(const partitioner::Evaluation& message, const Plan& plan);

/// Profiles the devices where that is not known yet (under the network's resting condition; kept in the store), probes codecs and links as
/// trials use them (client/planning/trial_links.h), links again under each condition whose definition does not say enough
/// (client/planning/condition_links.h), and fills in the predictions that trials lack. Trials of an adaptive sweep that a device had no room for have failed; others without a prediction have to
/// be measured. Leaves the network at rest. `stop` ends it early. Fails: as Planner does; kClosed where it was stopped; where the network cannot be what a trial asks for.
Expected<> predict_trials(const partitioner::Model& model, const Cluster& cluster,
                          ResultStore& store, const SweepOptions& options,
                          std::vector<TrialRecord>& trials, const std::atomic<bool>& stop,
                          const Planner::Progress& progress);

}  // namespace pareto::client
