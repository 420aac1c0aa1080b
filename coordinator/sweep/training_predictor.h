// Predicts the steps of training that a sweep would measure.
//
//   trials ──▶ profile_training on each device, probes of links ──▶ planning::training_step_time
#pragma once

#include <atomic>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/profile/profiler.h"
#include "coordinator/results/record.h"
#include "coordinator/sweep/sweep.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::sweep {

/// Fills in the predictions of trials of a sweep that trains. Every device that they use is
/// profiled, by each of their settings and micro-batches, and every link probed under each of their
/// networks.
///
/// A trial has no prediction if it has a codec, replicas, a device with two stages, or a cut that
/// is no position of the model's order; or if its network cannot be had. Measuring says the rest.
/// `stop` ends it early. Fails: as profile_training(), naming the device; as probe_links().
Expected<> predict_training(const model::Model& model, const model::Model& loss,
                            const cluster::Cluster& cluster, const SweepOptions& options,
                            std::vector<results::TrialRecord>& trials,
                            const std::atomic<bool>& stop,
                            const profile::Profiler::Progress& progress);

}  // namespace pareto::sweep
